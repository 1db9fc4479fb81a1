import type { NftFamily } from '../../family.ts';
import type { CtDirection, CtKey } from '../ct.ts';
import type { FibSelector } from '../fib.ts';
import type { MetaKey } from '../meta.ts';
import type { PayloadBase } from '../payload.ts';
import { concat, concatBytes, type Selector } from './selector.ts';
import { type SetReference, setFields } from './set-reference.ts';

/** The families of packets. A table can also have the family `inet`. */
export type PacketFamily = Exclude<NftFamily, 'inet'>;

export const ADDRESS_BYTES: { readonly [K in PacketFamily]: number } = { ip: 4, ip6: 16 };

const ADDRESS_OFFSETS: { readonly [K in PacketFamily]: { readonly saddr: number; readonly daddr: number } } = {
  ip: { saddr: 12, daddr: 16 },
  ip6: { saddr: 8, daddr: 24 },
};

export function payload(base: PayloadBase, offset: number, bytes: number): Selector {
  return { bytes, load: dreg => [{ kind: 'payload', base, offset, len: bytes, dreg }] };
}

export function meta(key: MetaKey, bytes: number): Selector {
  return { bytes, load: dreg => [{ kind: 'meta', key, dreg }] };
}

export function ct(key: CtKey, bytes: number, dir?: CtDirection): Selector {
  return { bytes, load: dreg => [{ kind: 'ct', key, dreg, ...(dir && { dir }) }] };
}

/** An address of the packet, or its first bytes. */
export function address(family: PacketFamily, field: 'saddr' | 'daddr', bytes = ADDRESS_BYTES[family]): Selector {
  return payload('network', ADDRESS_OFFSETS[family][field], bytes);
}

/** `ip saddr`, `ip6 saddr`. */
export function ipSaddr(family: PacketFamily): Selector {
  return address(family, 'saddr');
}

/** `ip daddr`, `ip6 daddr`. */
export function ipDaddr(family: PacketFamily): Selector {
  return address(family, 'daddr');
}

export const thSport = payload('transport', 0, 2);
export const thDport = payload('transport', 2, 2);

export const metaL4proto = meta('l4proto', 1);
export const metaNfproto = meta('nfproto', 1);
export const metaMark = meta('mark', 4);
export const metaPriority = meta('priority', 4);
export const iifname = meta('iifname', 16);
export const oifname = meta('oifname', 16);

export const ctState = ct('state', 4);
export const ctStatus = ct('status', 4);
export const ctDirection = ct('direction', 1);
export const ctMark = ct('mark', 4);

/** `ct original ip daddr`: the address of the connection's first packet before NAT. */
export function ctAddress(family: PacketFamily, dir: CtDirection, field: 'saddr' | 'daddr'): Selector {
  const end = field === 'saddr' ? 'src' : 'dst';
  return ct(family === 'ip' ? `${end}_ip` : `${end}_ip6`, ADDRESS_BYTES[family], dir);
}

/** `ct original proto-dst`. */
export function ctPort(dir: CtDirection, field: 'proto-src' | 'proto-dst'): Selector {
  return ct(field === 'proto-src' ? 'proto_src' : 'proto_dst', 2, dir);
}

/** `fib daddr type`: the type of the address for this machine, such as `local`. */
export function fibType(...selectors: readonly FibSelector[]): Selector {
  return { bytes: 4, load: dreg => [{ kind: 'fib', selectors, result: 'type', dreg }] };
}

/** `numgen random mod 3`: 0, 1 or 2 with the same probability. */
export function numgen(type: 'random' | 'inc', modulus: number, offset = 0): Selector {
  return { bytes: 4, load: dreg => [{ kind: 'numgen', type, modulus, offset, dreg }] };
}

/** `jhash ip saddr mod 3`: the same number for the same key. Without a seed each rule has its own random seed. */
export function jhash(key: readonly Selector[], modulus: number, seed?: number): Selector {
  const len = concatBytes(key);
  const seeded = seed === undefined ? {} : { seed };
  return {
    bytes: 4,
    // The hash overwrites its key, so that the next part of a concatenation can follow it.
    load: dreg => [...concat(key, dreg), { kind: 'jhash', sreg: dreg, len, modulus, offset: 0, ...seeded, dreg }],
  };
}

/** `symhash mod 3`: the same number for both directions of a connection. */
export function symhash(modulus: number, offset = 0): Selector {
  return { bytes: 4, load: dreg => [{ kind: 'symhash', modulus, offset, dreg }] };
}

/** `… map @endpoints`: the value of a map for a key. */
export function map(key: readonly Selector[], name: SetReference, bytes: number): Selector {
  return { bytes, load: dreg => [...concat(key, dreg), { kind: 'lookup', ...setFields(name), sreg: dreg, dreg }] };
}

/** A constant. */
export function constant(data: Buffer): Selector {
  return { bytes: data.length, load: dreg => [{ kind: 'immediate', dreg, data }] };
}
