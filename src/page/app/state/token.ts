import { signal } from '@preact/signals';
import { readStored, writeStored } from './storage.ts';

const KEY = 'pointsman.token';

/** What the operator gave. It lives as long as this tab, and is never part of an address. */
export const token = signal<string | undefined>(readStored('session', KEY));

/** Why the proxy refuses this page. Undefined while it does not. */
export const deniedReason = signal<string | undefined>(undefined);

export function setToken(value: string | undefined): void {
  writeStored('session', KEY, value);
  deniedReason.value = undefined;
  token.value = value;
}

/** The proxy answered with 401. A token that it refuses is of no use. */
export function denyAccess(reason: string): void {
  writeStored('session', KEY, undefined);
  deniedReason.value = reason;
}
