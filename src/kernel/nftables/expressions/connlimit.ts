import { asU32BE } from '../../netlink/index.ts';
import type { Codec } from './codec.ts';

/** Ends the rule if there are more than `count` connections. With `over`, ends it if there are not more. */
export interface Connlimit {
  readonly kind: 'connlimit';
  readonly count: number;
  readonly over?: true;
}

const COUNT = 1;
const FLAGS = 2;

const OVER = 0x1;

export const connlimit: Codec<Connlimit> = {
  name: 'connlimit',
  highest: FLAGS,

  encode(writer, { count, over }) {
    writer.u32BE(COUNT, count).u32BE(FLAGS, over ? OVER : 0);
  },

  decode(attributes) {
    const count = asU32BE(attributes.get(COUNT));
    const flags = asU32BE(attributes.get(FLAGS)) ?? 0;
    if (count === undefined || flags & ~OVER) return undefined;
    return { kind: 'connlimit', count, ...(flags & OVER ? { over: true } : {}) };
  },

  print: ({ count, over }) => `connlimit count ${count} flags ${over ? 1 : 0}`,
};
