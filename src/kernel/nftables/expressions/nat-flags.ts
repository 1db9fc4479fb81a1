import { flagNames } from './names.ts';

const FLAGS = { random: 0x4, persistent: 0x8, 'fully-random': 0x10, netmap: 0x40 } as const;

/** How an address or port is picked from those that are allowed; `netmap` maps a network onto another. */
export type NatFlag = keyof typeof FLAGS;

const MAP_IPS = 0x1;
const PROTO_SPECIFIED = 0x2;
/** Bits that say which registers were given. The kernel derives them by itself and lists them. */
const DERIVED = MAP_IPS | PROTO_SPECIFIED;

const flags = flagNames(FLAGS);

/** The flags field; `ports` says whether ports are given, which nft puts into it. */
export function natFlagBits(given: readonly NatFlag[] | undefined, ports: boolean): number {
  return flags.bits(given) | (ports ? PROTO_SPECIFIED : 0);
}

/** Undefined if a bit is set that has no word here. */
export function natFlagsOf(bits: number): NatFlag[] | undefined {
  return flags.flags(bits & ~DERIVED);
}

/** `random,fully-random`, in the order in which nft prints them. */
export function printNatFlags(given: readonly NatFlag[] | undefined): string {
  const order: readonly NatFlag[] = ['random', 'fully-random', 'persistent'];
  return order.filter(flag => given?.includes(flag)).join(',');
}
