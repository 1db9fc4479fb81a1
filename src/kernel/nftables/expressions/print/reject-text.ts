import type { Reject } from '../reject.ts';
import { dropImplied, type Walk } from './walk.ts';

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

/** `reject`, `reject with icmp host-unreachable`. That no port is there is what a reject says by itself. */
export function rejectText(walk: Walk, reject: Reject): string {
  switch (reject.type) {
    case 'tcp reset':
      if (walk.family !== 'inet') dropImplied(walk, 'transport');
      return 'reject with tcp reset';
    case 'icmpx':
      if (reject.code === 1) return 'reject';
      return `reject with icmpx ${ICMPX.get(reject.code) ?? reject.code}`;
    case 'icmp':
      return icmpText(walk, reject.code);
  }
}

function icmpText(walk: Walk, code: number): string {
  if (walk.family === 'inet') dropImplied(walk, 'network');
  if (walk.network === 'ip6') {
    if (code === 4 && walk.family === 'ip6') return 'reject';
    return `reject with icmpv6 ${ICMPV6.get(code) ?? code}`;
  }
  if (code === 3 && walk.family === 'ip') return 'reject';
  return `reject with icmp ${ICMP.get(code) ?? code}`;
}
