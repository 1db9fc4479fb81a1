import { signal } from '@preact/signals';
import type { PageInfo } from '../../index.ts';

/** What this page may do. Undefined until the server has said so. */
export const pageInfo = signal<PageInfo | undefined>(undefined);
