import { asU32BE, asU64BE } from '../../netlink/index.ts';
import type { Codec } from './codec.ts';

/** Ends the rule once more than `bytes` bytes have arrived. With `over`, ends it until then. */
export interface Quota {
  readonly kind: 'quota';
  readonly bytes: bigint;
  readonly consumed: bigint;
  readonly over?: true;
}

const BYTES = 1;
const FLAGS = 2;
const CONSUMED = 4;

const OVER = 0x1;
/** The kernel sets this flag in its listing when the quota is used up. */
const DEPLETED = 0x2;

export const quota: Codec<Quota> = {
  name: 'quota',
  highest: CONSUMED,

  encode(writer, { bytes, consumed, over }) {
    writer
      .u64BE(BYTES, bytes)
      .u64BE(CONSUMED, consumed)
      .u32BE(FLAGS, over ? OVER : 0);
  },

  decode(attributes) {
    const bytes = asU64BE(attributes.get(BYTES));
    const flags = asU32BE(attributes.get(FLAGS)) ?? 0;
    if (bytes === undefined || flags & ~(OVER | DEPLETED)) return undefined;
    const consumed = asU64BE(attributes.get(CONSUMED)) ?? 0n;
    return { kind: 'quota', bytes, consumed, ...(flags & OVER ? { over: true } : {}) };
  },

  print: ({ bytes, consumed, over }) => `quota bytes ${bytes} consumed ${consumed} flags ${over ? 1 : 0}`,
};
