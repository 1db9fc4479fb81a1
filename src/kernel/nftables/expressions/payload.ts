import { asU32BE } from '../../netlink/index.ts';
import type { Codec } from './codec.ts';
import { names, withoutUndefined } from './names.ts';
import { printRegister, type Register } from './registers.ts';

/** The header from which an offset is counted. */
export type PayloadBase = 'link' | 'network' | 'transport' | 'inner';

/**
 * Loads `len` bytes of the packet, `offset` bytes after the start of a header. Ends the rule if the packet is shorter.
 */
export interface Payload {
  readonly kind: 'payload';
  readonly base: PayloadBase;
  readonly offset: number;
  readonly len: number;
  readonly dreg: Register;
}

/** Overwrites bytes of the packet and updates a checksum. */
export interface PayloadWrite {
  readonly kind: 'payload-write';
  readonly base: PayloadBase;
  readonly offset: number;
  readonly len: number;
  readonly sreg: Register;
  readonly csumType?: number;
  readonly csumOffset?: number;
  readonly csumFlags?: number;
}

const DREG = 1;
const BASE = 2;
const OFFSET = 3;
const LEN = 4;
const SREG = 5;
const CSUM_TYPE = 6;
const CSUM_OFFSET = 7;
const CSUM_FLAGS = 8;

const bases = names({ link: 0, network: 1, transport: 2, inner: 3 });

export const payload: Codec<Payload | PayloadWrite> = {
  name: 'payload',
  highest: CSUM_FLAGS,

  encode(writer, expression) {
    const { base, offset, len } = expression;
    if (expression.kind === 'payload') writer.u32BE(DREG, expression.dreg);
    else writer.u32BE(SREG, expression.sreg);
    writer.u32BE(BASE, bases.number(base)).u32BE(OFFSET, offset).u32BE(LEN, len);
    if (expression.kind === 'payload') return;
    if (expression.csumType !== undefined) writer.u32BE(CSUM_TYPE, expression.csumType);
    if (expression.csumOffset !== undefined) writer.u32BE(CSUM_OFFSET, expression.csumOffset);
    if (expression.csumFlags !== undefined) writer.u32BE(CSUM_FLAGS, expression.csumFlags);
  },

  decode(attributes) {
    const base = bases.name(asU32BE(attributes.get(BASE)));
    const offset = asU32BE(attributes.get(OFFSET));
    const len = asU32BE(attributes.get(LEN));
    const dreg = asU32BE(attributes.get(DREG));
    const sreg = asU32BE(attributes.get(SREG));
    if (base === undefined || offset === undefined || len === undefined) return undefined;
    if (dreg !== undefined) return { kind: 'payload', base, offset, len, dreg };
    if (sreg === undefined) return undefined;
    const checksum = withoutUndefined({
      csumType: asU32BE(attributes.get(CSUM_TYPE)),
      csumOffset: asU32BE(attributes.get(CSUM_OFFSET)),
      // If the rule has no flags, the kernel lists zero.
      csumFlags: asU32BE(attributes.get(CSUM_FLAGS)) || undefined,
    });
    return { kind: 'payload-write', base, offset, len, sreg, ...checksum };
  },

  print(expression) {
    const place = `${expression.len}b @ ${expression.base} header + ${expression.offset}`;
    if (expression.kind === 'payload') return `payload load ${place} => ${printRegister(expression.dreg)}`;
    const { csumType = 0, csumOffset = 0, csumFlags = 0 } = expression;
    const checksum = `csum_type ${csumType} csum_off ${csumOffset} csum_flags 0x${csumFlags.toString(16)}`;
    return `payload write ${printRegister(expression.sreg)} => ${place} ${checksum}`;
  },
};
