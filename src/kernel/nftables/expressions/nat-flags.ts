import { flagNames } from './names.ts';

const FLAGS = { random: 0x4, persistent: 0x8, 'fully-random': 0x10, netmap: 0x40 } as const;

/** How the kernel chooses an address or port from a range. `netmap` maps one network to another. */
export type NatFlag = keyof typeof FLAGS;

const MAP_IPS = 0x1;
const PROTO_SPECIFIED = 0x2;
/** Bits for the registers that the expression uses. The kernel derives them by itself and lists them. */
const DERIVED = MAP_IPS | PROTO_SPECIFIED;

const flags = flagNames(FLAGS);

/** The flags field. nft sets a bit in it if the expression has ports. */
export function natFlagBits(given: readonly NatFlag[] | undefined, hasPorts: boolean): number {
  return flags.bits(given) | (hasPorts ? PROTO_SPECIFIED : 0);
}

/** Returns undefined if an unknown bit is set. */
export function natFlagsOf(bits: number): NatFlag[] | undefined {
  return flags.flags(bits & ~DERIVED);
}

/** `random,fully-random`, in the order of nft. */
export function printNatFlags(given: readonly NatFlag[] | undefined): string {
  const order: readonly NatFlag[] = ['random', 'fully-random', 'persistent'];
  return order.filter(flag => given?.includes(flag)).join(',');
}
