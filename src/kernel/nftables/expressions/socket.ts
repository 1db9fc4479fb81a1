import { asU32BE } from '../../netlink/index.ts';
import type { Codec } from './codec.ts';
import { names, withoutUndefined } from './names.ts';
import { printRegister, type Register } from './registers.ts';

export type SocketKey = 'transparent' | 'mark' | 'wildcard' | 'cgroupv2';

/** Loads a property of the socket that the packet belongs to. */
export interface Socket {
  readonly kind: 'socket';
  readonly key: SocketKey;
  readonly dreg: Register;
  /** Only for `cgroupv2`: the level of the ancestor of the socket's cgroup. */
  readonly level?: number;
}

const KEY = 1;
const DREG = 2;
const LEVEL = 3;

const keys = names({ transparent: 0, mark: 1, wildcard: 2, cgroupv2: 3 });

export const socket: Codec<Socket> = {
  name: 'socket',
  highest: LEVEL,

  encode(writer, { key, dreg, level }) {
    // nft and the kernel send a level with every key, although only `cgroupv2` has levels.
    writer
      .u32BE(KEY, keys.number(key))
      .u32BE(DREG, dreg)
      .u32BE(LEVEL, level ?? 0);
  },

  decode(attributes) {
    const key = keys.name(asU32BE(attributes.get(KEY)));
    const dreg = asU32BE(attributes.get(DREG));
    if (key === undefined || dreg === undefined) return undefined;
    const level = key === 'cgroupv2' ? asU32BE(attributes.get(LEVEL)) : undefined;
    return { kind: 'socket', key, dreg, ...withoutUndefined({ level }) };
  },

  print: ({ key, dreg }) => `socket load ${key} => ${printRegister(dreg)}`,
};
