import type { NftFamily } from '../../family.ts';
import type { Masquerade } from '../masquerade.ts';
import type { Nat } from '../nat.ts';
import { type NatFlag, printNatFlags } from '../nat-flags.ts';
import type { Redirect } from '../redirect.ts';
import { type Register, wordOf } from '../registers.ts';
import { type Operand, printOperand } from './operand.ts';
import type { PrintState } from './print-state.ts';
import { operandIn } from './register-contents.ts';
import type { ValueType } from './value.ts';

/** `dnat to 10.0.0.1:80`. Undefined if the content of a register cannot be written in nft's syntax. */
export function natText(state: PrintState, nat: Nat): string | undefined {
  const type = nat.family === 'ip6' ? 'ipv6_addr' : 'ipv4_addr';
  const both = addressPortMapText(state, nat);
  if (both !== undefined) return withFlags(`${nat.type} ${nat.family} to ${both}`, nat.flags);
  const address = bounds(state, type, nat.addrMin, nat.addrMax);
  const port = bounds(state, 'inet_service', nat.protoMin, nat.protoMax);
  if (address === undefined || port === undefined) return undefined;
  const family = state.family === 'inet' && nat.family !== 'inet' ? ` ${nat.family}` : '';
  const target = targetText(nat.family, address, port);
  return withFlags(`${nat.type}${family}${target ? ` to ${target}` : ''}`, nat.flags);
}

/** `masquerade fully-random`, `redirect to :8080`. */
export function portNatText(state: PrintState, nat: Masquerade | Redirect): string | undefined {
  const port = bounds(state, 'inet_service', nat.protoMin, nat.protoMax);
  if (port === undefined) return undefined;
  return withFlags(`${nat.kind}${port ? ` to :${port}` : ''}`, nat.flags);
}

/** The text of a map whose data are an address and a port. Undefined if the registers do not come from such a map. */
function addressPortMapText(state: PrintState, { family, addrMin, protoMin }: Nat): string | undefined {
  if (addrMin === undefined || protoMin === undefined) return undefined;
  const address = operandIn(state.registers, addrMin);
  if (address?.kind !== 'map' || operandIn(state.registers, protoMin) !== address) return undefined;
  const distance = (wordOf(protoMin) ?? 0) - (wordOf(addrMin) ?? 0);
  return distance === (family === 'ip6' ? 4 : 1) ? address.text : undefined;
}

/** Empty without registers. Undefined if the content of a register cannot be written in nft's syntax. */
function bounds(state: PrintState, type: ValueType, min?: Register, max?: Register): string | undefined {
  if (min === undefined) return '';
  const from = registerText(state, type, min);
  if (max === undefined || from === undefined) return from;
  const to = registerText(state, type, max);
  return to === undefined ? undefined : `${from}-${to}`;
}

function registerText(state: PrintState, type: ValueType, register: Register): string | undefined {
  const operand: Operand | undefined = operandIn(state.registers, register);
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
