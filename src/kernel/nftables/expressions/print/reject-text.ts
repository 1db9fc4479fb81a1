import type { Reject } from '../reject.ts';
import { dropImpliedMatch, type PrintState } from './print-state.ts';

const ICMP: ReadonlyMap<number, string> = new Map([
  [0, 'net-unreachable'],
  [1, 'host-unreachable'],
  [2, 'prot-unreachable'],
  [3, 'port-unreachable'],
  [9, 'net-prohibited'],
  [10, 'host-prohibited'],
  [13, 'admin-prohibited'],
]);

const ICMPV6: ReadonlyMap<number, string> = new Map([
  [0, 'no-route'],
  [1, 'admin-prohibited'],
  [3, 'addr-unreachable'],
  [4, 'port-unreachable'],
  [5, 'policy-fail'],
  [6, 'reject-route'],
]);

const ICMPX: ReadonlyMap<number, string> = new Map([
  [0, 'no-route'],
  [1, 'port-unreachable'],
  [2, 'host-unreachable'],
  [3, 'admin-prohibited'],
]);

/** `reject`, `reject with icmp host-unreachable`. nft does not print port-unreachable, because it is the default. */
export function rejectText(state: PrintState, reject: Reject): string {
  switch (reject.type) {
    case 'tcp reset':
      if (state.family !== 'inet') dropImpliedMatch(state, 'transport');
      return 'reject with tcp reset';
    case 'icmpx':
      if (reject.code === 1) return 'reject';
      return `reject with icmpx ${ICMPX.get(reject.code) ?? reject.code}`;
    case 'icmp':
      return icmpText(state, reject.code);
  }
}

function icmpText(state: PrintState, code: number): string {
  if (state.family === 'inet') dropImpliedMatch(state, 'network');
  if (state.network === 'ip6') {
    if (code === 4 && state.family === 'ip6') return 'reject';
    return `reject with icmpv6 ${ICMPV6.get(code) ?? code}`;
  }
  if (code === 3 && state.family === 'ip') return 'reject';
  return `reject with icmp ${ICMP.get(code) ?? code}`;
}
