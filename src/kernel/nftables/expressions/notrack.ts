import type { Codec } from './codec.ts';

/** Excludes the packet from connection tracking. */
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
