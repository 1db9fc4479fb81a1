import { withoutSecrets } from '../lib/secrets.ts';
import type { LiveEvent } from './live-events.ts';

/** An event as a reader gets it. JSON has no line breaks, so its data is one line. */
export function eventBytes(event: LiveEvent): Uint8Array {
  return textBytes(event.kind, JSON.stringify(event));
}

/** Bytes are not looked through again for each reader, so this removes secrets. */
export function textBytes(kind: LiveEvent['kind'], json: string): Uint8Array {
  return Buffer.from(withoutSecrets(`event: ${kind}\ndata: ${json}\n\n`));
}

/** Events about many items. Each is made once, when the first reader takes it, and all readers get the same bytes. */
export interface SharedEvents {
  readonly length: number;
  at(index: number): Uint8Array;
}

export function sharedEvents<T>(
  items: readonly T[],
  itemsPerEvent: number,
  make: (items: readonly T[]) => Uint8Array,
): SharedEvents {
  const made: Uint8Array[] = [];
  return {
    length: Math.ceil(items.length / itemsPerEvent),
    at(index) {
      const start = index * itemsPerEvent;
      made[index] ??= make(items.slice(start, start + itemsPerEvent));
      return made[index];
    },
  };
}
