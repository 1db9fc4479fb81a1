import { signal } from '@preact/signals';
import type { RowsEvent, ServiceRow } from '../../../inspect/index.ts';
import { rates } from './rates.ts';
import { keyOf, ServiceIndex } from './service-index.ts';

/** All Services by `ns/name`. The map is changed in place; `servicesVersion` changes with it. */
export const services: Map<string, ServiceRow> = new Map();
export const servicesVersion = signal(0);

/** The same, sorted and searchable. */
export const serviceIndex = new ServiceIndex();

/** `listing`: the list is not complete yet. */
export const listState = signal<'listing' | 'complete'>('listing');

/** The history has every change since then. Undefined before the first list. */
export const historySince = signal<number | undefined>(undefined);

export function changeServices({ rows, removed }: Pick<RowsEvent, 'rows' | 'removed'>): void {
  if (rows.length === 0 && removed.length === 0) return;
  for (const row of rows) services.set(keyOf(row), row);
  for (const key of removed) {
    services.delete(key);
    rates.forget(key);
  }
  serviceIndex.change(rows, removed);
  servicesVersion.value++;
}
