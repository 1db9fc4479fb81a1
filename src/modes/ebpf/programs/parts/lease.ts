import { call, load, lookup, note, type Part, r0, r8, store, when } from '../../../../kernel/bpf/index.ts';
import type { ConnectStack } from './stack.ts';

/** Goes to `leave` if the proxy has not renewed the lease. Nobody would tell such a program that endpoints are gone. */
export function requireLease({ index }: ConnectStack): Part {
  return [
    note('does a proxy still keep these maps: is now before lease[0]?'),
    [store(index.at.value, 0), lookup('lease', index), when(r0, '==', 0, 'leave')],
    [load(r8, { base: r0, offset: 0, size: 8 }), call('ktime_get_ns'), when(r8, '<', r0, 'leave')],
  ];
}
