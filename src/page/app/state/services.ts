import { signal } from '@preact/signals';
import type { ServiceRow } from '../../../inspect/index.ts';

/** All Services by `ns/name`. The map is changed in place; `servicesVersion` changes with it. */
export const services: Map<string, ServiceRow> = new Map();
export const servicesVersion = signal(0);

/** `listing`: the list is not complete yet. */
export const listState = signal<'listing' | 'complete'>('listing');
