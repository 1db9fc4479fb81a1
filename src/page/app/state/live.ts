import { signal } from '@preact/signals';
import type { HelloEvent, LiveEvent, ProxyStatus } from '../../../inspect/index.ts';

/**
 * connecting    the first attempt
 * live          data comes
 * reconnecting  the stream broke off; the page retries, and shows what it knew last
 * paused        the page was hidden, so it closed its stream
 * denied        the proxy wants a token
 */
export type ConnectionState = 'connecting' | 'live' | 'reconnecting' | 'paused' | 'denied';

export const connection = signal<ConnectionState>('connecting');

/** Why the last attempt failed. */
export const lastFailure = signal<string | undefined>(undefined);

/** When the last data came, in milliseconds since 1970. */
export const lastDataAt = signal<number | undefined>(undefined);

/** The first event of the stream: the node, the mode and the run of the proxy. */
export const hello = signal<HelloEvent | undefined>(undefined);

export const status = signal<ProxyStatus | undefined>(undefined);

type Kind = LiveEvent['kind'];
type EventOf<K extends Kind> = Extract<LiveEvent, { readonly kind: K }>;
type Listener = (event: never) => void;

const listeners = new Map<Kind, Set<Listener>>();

/** Calls the listener with every event of a kind. Returns a function that ends this. */
export function onLive<K extends Kind>(kind: K, listener: (event: EventOf<K>) => void): () => void {
  const known = listeners.get(kind) ?? new Set();
  listeners.set(kind, known.add(listener));
  return () => void known.delete(listener);
}

/** Hands an event to its listeners. */
export function dispatch(event: LiveEvent): void {
  for (const listener of listeners.get(event.kind) ?? []) (listener as (event: LiveEvent) => void)(event);
}
