import { asU64BE } from '../../netlink/index.ts';
import type { Codec } from './codec.ts';
import { withoutUndefined } from './names.ts';

/** Counts the packets that reach this expression. */
export interface Counter {
  readonly kind: 'counter';
  readonly packets?: bigint;
  readonly bytes?: bigint;
}

const BYTES = 1;
const PACKETS = 2;
const PAD = 3;

export const counter: Codec<Counter> = {
  name: 'counter',
  highest: PAD,

  encode(writer, { packets, bytes }) {
    if (bytes !== undefined) writer.u64BE(BYTES, bytes);
    if (packets !== undefined) writer.u64BE(PACKETS, packets);
  },

  decode(attributes) {
    const counts = { packets: asU64BE(attributes.get(PACKETS)), bytes: asU64BE(attributes.get(BYTES)) };
    return { kind: 'counter', ...withoutUndefined(counts) };
  },

  print: ({ packets = 0n, bytes = 0n }) => `counter pkts ${packets} bytes ${bytes}`,
};
