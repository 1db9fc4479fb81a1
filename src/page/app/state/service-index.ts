import type { ServiceRow } from '../../../inspect/index.ts';
import { compareTexts } from '../../../lib/compare-texts.ts';

/** A Service with what a search looks at. */
export interface IndexedService {
  /** `ns/name` */
  readonly key: string;
  readonly row: ServiceRow;
  /** The name, then each address, port and node port, in small letters, with a line feed around each. */
  readonly haystack: string;
  /** Milliseconds since 1970. Zero if the history does not have it. */
  readonly changedAt: number;
}

/** `ns/name` */
export function keyOf({ namespace, name }: Pick<ServiceRow, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

/** Above this, sorting all is cheaper than moving the array once for each. */
const MAX_SINGLE_INSERTS = 64;

/** All Services sorted by namespace and name. Changes keep the order; nothing sorts all Services for one row. */
export class ServiceIndex {
  #sorted: IndexedService[] = [];

  get sorted(): readonly IndexedService[] {
    return this.#sorted;
  }

  change(rows: readonly ServiceRow[], removed: readonly string[]): void {
    const added = rows.map(indexed).filter(service => !this.#replace(service));
    if (added.length > 0) this.#add(added.sort(compareKeys));
    if (removed.length > MAX_SINGLE_INSERTS) {
      const gone = new Set(removed);
      this.#sorted = this.#sorted.filter(({ key }) => !gone.has(key));
      return;
    }
    for (const key of removed) {
      const at = this.#position(key);
      if (this.#sorted[at]?.key === key) this.#sorted.splice(at, 1);
    }
  }

  #replace(service: IndexedService): boolean {
    const at = this.#position(service.key);
    if (this.#sorted[at]?.key !== service.key) return false;
    this.#sorted[at] = service;
    return true;
  }

  /** `added` is sorted, and none of it is known. */
  #add(added: readonly IndexedService[]): void {
    const first = added[0];
    const last = this.#sorted.at(-1);
    const isAfter = first && (last === undefined || compareKeys(last, first) < 0);
    if (isAfter) for (const service of added) this.#sorted.push(service);
    else if (added.length > MAX_SINGLE_INSERTS) this.#sorted = [...this.#sorted, ...added].sort(compareKeys);
    else for (const service of added) this.#sorted.splice(this.#position(service.key), 0, service);
  }

  /** Where the key is, or belongs. */
  #position(key: string): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareTexts(this.#sorted[middle]?.key ?? '', key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function compareKeys(a: IndexedService, b: IndexedService): number {
  return compareTexts(a.key, b.key);
}

export function indexed(row: ServiceRow): IndexedService {
  const key = keyOf(row);
  // `80:30080/TCP`
  const ports = row.ports.flatMap(port => port.split('/', 1)).flatMap(numbers => numbers.split(':'));
  const changedAt = row.changed === undefined ? 0 : Date.parse(row.changed);
  return { key, row, haystack: `${[key, ...row.addresses, ...ports].join('\n').toLowerCase()}\n`, changedAt };
}
