import type { Codec } from './codec.ts';

/** Keeps the packet out of connection tracking. */
export interface Notrack {
  readonly kind: 'notrack';
}

export const notrack: Codec<Notrack> = {
  name: 'notrack',
  highest: 0,
  encode() {},
  decode: () => ({ kind: 'notrack' }),
  print: () => 'notrack',
};
