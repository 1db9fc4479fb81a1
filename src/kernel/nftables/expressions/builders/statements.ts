import type { NftFamily } from '../../family.ts';
import type { Expression } from '../expression.ts';
import type { Register } from '../registers.ts';
import { host32 } from './matches.ts';
import { REG_1, type Selector } from './selector.ts';
import { ctMark, metaMark } from './selectors.ts';

export const accept: Expression = { kind: 'verdict', verdict: { kind: 'accept' } };
export const drop: Expression = { kind: 'verdict', verdict: { kind: 'drop' } };
export const returns: Expression = { kind: 'verdict', verdict: { kind: 'return' } };

/** Runs a chain and then continues with the next rule. */
export function jump(chain: string): Expression {
  return { kind: 'verdict', verdict: { kind: 'jump', chain } };
}

/** Runs a chain and does not continue with the next rule. */
export function goto(chain: string): Expression {
  return { kind: 'verdict', verdict: { kind: 'goto', chain } };
}

/** Rejects with "port unreachable", as nft's plain `reject` does. */
export function reject(family: NftFamily): Expression {
  switch (family) {
    case 'ip':
      return { kind: 'reject', type: 'icmp', code: 3 };
    case 'ip6':
      return { kind: 'reject', type: 'icmp', code: 4 };
    case 'inet':
      return { kind: 'reject', type: 'icmpx', code: 1 };
  }
}

export const rejectWithTcpReset: Expression = { kind: 'reject', type: 'tcp reset' };

/** `meta mark set meta mark | 0x4000`. */
export function markOr(bits: number): Expression[] {
  return changeMark(~bits, bits);
}

/** `meta mark set meta mark & 0xffffbfff`. */
export function markAnd(bits: number): Expression[] {
  return changeMark(bits, 0);
}

/** `meta mark set meta mark ^ 0x4000`. */
export function markXor(bits: number): Expression[] {
  return changeMark(-1, bits);
}

/** `meta mark set …`. */
export function setMark(to: Selector): Expression[] {
  return [...to.load(REG_1), { kind: 'meta-set', key: 'mark', sreg: REG_1 }];
}

/** `meta priority set …`. By default through the first register. */
export function setPriority(to: Selector, register: Register = REG_1): Expression[] {
  return [...to.load(register), { kind: 'meta-set', key: 'priority', sreg: register }];
}

/** `ct mark set …`. */
export function setCtMark(to: Selector): Expression[] {
  return [...to.load(REG_1), { kind: 'ct-set', key: 'mark', sreg: REG_1 }];
}

/** `ct mark set ct mark | 0x4000`. */
export function ctMarkOr(bits: number): Expression[] {
  return setCtMark(bitwiseOf(ctMark, ~bits, bits));
}

export function counter(): Expression {
  return { kind: 'counter' };
}

export function log(prefix: string, group?: number): Expression {
  return { kind: 'log', prefix, ...(group !== undefined && { group }) };
}

function changeMark(mask: number, xor: number): Expression[] {
  return setMark(bitwiseOf(metaMark, mask, xor));
}

function bitwiseOf(selector: Selector, mask: number, xor: number): Selector {
  return {
    bytes: 4,
    load: dreg => [...selector.load(dreg), { kind: 'bitwise', sreg: dreg, dreg, mask: host32(mask), xor: host32(xor) }],
  };
}
