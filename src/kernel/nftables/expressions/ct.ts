import { asU8, asU32BE } from '../../netlink/index.ts';
import type { Codec } from './codec.ts';
import { names, withoutUndefined } from './names.ts';
import { printRegister, type Register } from './registers.ts';

const KEYS = {
  state: 0,
  direction: 1,
  status: 2,
  mark: 3,
  secmark: 4,
  expiration: 5,
  helper: 6,
  l3protocol: 7,
  src: 8,
  dst: 9,
  protocol: 10,
  proto_src: 11,
  proto_dst: 12,
  label: 13,
  packets: 14,
  bytes: 15,
  avgpkt: 16,
  zone: 17,
  event: 18,
  src_ip: 19,
  dst_ip: 20,
  src_ip6: 21,
  dst_ip6: 22,
  id: 23,
} as const;

export type CtKey = keyof typeof KEYS;
export type CtDirection = 'original' | 'reply';

/** Loads a value that connection tracking has for the packet's connection. */
export interface Ct {
  readonly kind: 'ct';
  readonly key: CtKey;
  readonly dreg: Register;
  /** Only for keys whose values differ between the directions of a connection. */
  readonly dir?: CtDirection;
}

/** Sets a value of the packet's connection. Only mark, label, zone, event and secmark can be set. */
export interface CtSet {
  readonly kind: 'ct-set';
  readonly key: CtKey;
  readonly sreg: Register;
  readonly dir?: CtDirection;
}

const DREG = 1;
const KEY = 2;
const DIRECTION = 3;
const SREG = 4;

const keys = names(KEYS);
const directions = names({ original: 0, reply: 1 });

export const ct: Codec<Ct | CtSet> = {
  name: 'ct',
  highest: SREG,

  encode(writer, expression) {
    writer.u32BE(KEY, keys.number(expression.key));
    if (expression.kind === 'ct') writer.u32BE(DREG, expression.dreg);
    if (expression.dir !== undefined) writer.u8(DIRECTION, directions.number(expression.dir));
    if (expression.kind === 'ct-set') writer.u32BE(SREG, expression.sreg);
  },

  decode(attributes) {
    const key = keys.name(asU32BE(attributes.get(KEY)));
    const dreg = asU32BE(attributes.get(DREG));
    const sreg = asU32BE(attributes.get(SREG));
    const direction = asU8(attributes.get(DIRECTION));
    const dir = directions.name(direction);
    if (key === undefined || (direction !== undefined && dir === undefined)) return undefined;
    if (dreg !== undefined) return { kind: 'ct', key, dreg, ...withoutUndefined({ dir }) };
    return sreg === undefined ? undefined : { kind: 'ct-set', key, sreg, ...withoutUndefined({ dir }) };
  },

  print(expression) {
    const dir = expression.dir === undefined ? '' : ` , dir ${expression.dir}`;
    if (expression.kind === 'ct') return `ct load ${expression.key} => ${printRegister(expression.dreg)}${dir}`;
    return `ct set ${expression.key} with ${printRegister(expression.sreg)}${dir}`;
  },
};
