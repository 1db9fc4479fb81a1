import type { NftFamily } from '../../family.ts';
import type { Masquerade } from '../masquerade.ts';
import type { Nat } from '../nat.ts';
import { type NatFlag, printNatFlags } from '../nat-flags.ts';
import type { Redirect } from '../redirect.ts';
import { type Register, wordOf } from '../registers.ts';
import { heldIn } from './held.ts';
import { type Operand, printOperand } from './operand.ts';
import type { ValueType } from './value.ts';
import type { Walk } from './walk.ts';

/** `dnat to 10.0.0.1:80`; undefined if a register holds nothing that has words. */
export function natText(walk: Walk, nat: Nat): string | undefined {
  const type = nat.family === 'ip6' ? 'ipv6_addr' : 'ipv4_addr';
  const both = concatenation(walk, nat);
  if (both !== undefined) return withFlags(`${nat.type} ${nat.family} to ${both}`, nat.flags);
  const address = bounds(walk, type, nat.addrMin, nat.addrMax);
  const port = bounds(walk, 'inet_service', nat.protoMin, nat.protoMax);
  if (address === undefined || port === undefined) return undefined;
  const family = walk.family === 'inet' && nat.family !== 'inet' ? ` ${nat.family}` : '';
  const target = targetText(nat.family, address, port);
  return withFlags(`${nat.type}${family}${target ? ` to ${target}` : ''}`, nat.flags);
}

/** `masquerade fully-random`, `redirect to :8080`. */
export function portNatText(walk: Walk, nat: Masquerade | Redirect): string | undefined {
  const port = bounds(walk, 'inet_service', nat.protoMin, nat.protoMax);
  if (port === undefined) return undefined;
  return withFlags(`${nat.kind}${port ? ` to :${port}` : ''}`, nat.flags);
}

/** A map whose data are address and port together. */
function concatenation(walk: Walk, { family, addrMin, protoMin }: Nat): string | undefined {
  if (addrMin === undefined || protoMin === undefined) return undefined;
  const address = heldIn(walk.held, addrMin);
  if (address?.kind !== 'map' || heldIn(walk.held, protoMin) !== address) return undefined;
  const apart = (wordOf(protoMin) ?? 0) - (wordOf(addrMin) ?? 0);
  return apart === (family === 'ip6' ? 4 : 1) ? address.text : undefined;
}

/** Empty where no register is given, undefined where one holds nothing that has words. */
function bounds(walk: Walk, type: ValueType, min?: Register, max?: Register): string | undefined {
  if (min === undefined) return '';
  const from = registerText(walk, type, min);
  if (max === undefined || from === undefined) return from;
  const to = registerText(walk, type, max);
  return to === undefined ? undefined : `${from}-${to}`;
}

function registerText(walk: Walk, type: ValueType, register: Register): string | undefined {
  const operand: Operand | undefined = heldIn(walk.held, register);
  return operand && printOperand(operand, type, 'network');
}

function targetText(family: NftFamily, address: string, port: string): string {
  if (!port) return address;
  return family === 'ip6' && address ? `[${address}]:${port}` : `${address}:${port}`;
}

function withFlags(text: string, flags: readonly NatFlag[] | undefined): string {
  const printed = printNatFlags(flags);
  return printed ? `${text} ${printed}` : text;
}
