import { asU32BE } from '../../netlink/index.ts';
import type { Codec } from './codec.ts';
import { names } from './names.ts';
import { printRegister, type Register } from './registers.ts';

const KEYS = {
  len: 0,
  protocol: 1,
  priority: 2,
  mark: 3,
  iif: 4,
  oif: 5,
  iifname: 6,
  oifname: 7,
  iiftype: 8,
  oiftype: 9,
  skuid: 10,
  skgid: 11,
  nftrace: 12,
  rtclassid: 13,
  secmark: 14,
  nfproto: 15,
  l4proto: 16,
  bri_iifname: 17,
  bri_oifname: 18,
  pkttype: 19,
  cpu: 20,
  iifgroup: 21,
  oifgroup: 22,
  cgroup: 23,
  prandom: 24,
  secpath: 25,
  iifkind: 26,
  oifkind: 27,
  time: 30,
  day: 31,
  hour: 32,
  sdif: 33,
  sdifname: 34,
} as const;

export type MetaKey = keyof typeof KEYS;

/** Loads a value that the kernel has about the packet, such as its interface or mark. */
export interface Meta {
  readonly kind: 'meta';
  readonly key: MetaKey;
  readonly dreg: Register;
}

/** Sets such a value. Only mark, priority, nftrace, pkttype and secmark can be set. */
export interface MetaSet {
  readonly kind: 'meta-set';
  readonly key: MetaKey;
  readonly sreg: Register;
}

const DREG = 1;
const KEY = 2;
const SREG = 3;

const keys = names(KEYS);

export const meta: Codec<Meta | MetaSet> = {
  name: 'meta',
  highest: SREG,

  encode(writer, expression) {
    writer.u32BE(KEY, keys.number(expression.key));
    if (expression.kind === 'meta') writer.u32BE(DREG, expression.dreg);
    else writer.u32BE(SREG, expression.sreg);
  },

  decode(attributes) {
    const key = keys.name(asU32BE(attributes.get(KEY)));
    const dreg = asU32BE(attributes.get(DREG));
    const sreg = asU32BE(attributes.get(SREG));
    if (key === undefined) return undefined;
    if (dreg !== undefined) return { kind: 'meta', key, dreg };
    return sreg === undefined ? undefined : { kind: 'meta-set', key, sreg };
  },

  print(expression) {
    if (expression.kind === 'meta') return `meta load ${expression.key} => ${printRegister(expression.dreg)}`;
    return `meta set ${expression.key} with ${printRegister(expression.sreg)}`;
  },
};
