import {
  alu,
  at,
  call,
  clear,
  item,
  load,
  lookup,
  note,
  type Part,
  r0,
  r1,
  r2,
  r7,
  r9,
  set,
  store,
  update,
  when,
} from '../../../../kernel/bpf/index.ts';
import { copyAddress, type SocketFamily, wordsOf } from './socket-family.ts';
import type { ConnectStack } from './stack.ts';

const NANOSECONDS = 1_000_000_000;

/** `endpoint` becomes the one that the client had. Goes to `otherwise` if there is none, or not any more. */
export function takeRemembered(family: SocketFamily, stack: ConnectStack, otherwise: string): Part {
  const { choice, affinityKey, endpoint } = stack;
  const { Affinity } = family;
  return [
    note('affinity: the client is the network namespace'),
    [load(r2, choice.at.namespace), store(affinityKey.at.client, r2)],
    [load(r2, choice.at.identity), store(affinityKey.at.pool, r2)],
    note(`the last endpoint and its time = affinity${family.digit}[client, pool]`),
    [call('ktime_get_boot_ns'), store(choice.at.now, r0)],
    [lookup(`affinity${family.digit}`, affinityKey), when(r0, '==', 0, otherwise), set(r9, r0)],
    note('was it too long ago?'),
    // Another processor may have written a later time than this program read, so nothing is subtracted from it.
    [load(r1, choice.at.affinitySeconds), alu(r1, '*', NANOSECONDS)],
    [load(r2, at(r9, Affinity.seen)), alu(r1, '+', r2)],
    [load(r2, choice.at.now), when(r1, '<', r2, otherwise)],
    note('the endpoint that the client had'),
    clear(endpoint),
    copyAddress(family, word => at(r9, item(Affinity.address, word)), wordsOf(endpoint)),
    [load(r2, at(r9, Affinity.port)), store(endpoint.at.port, r2)],
    requireMember(family, stack, otherwise),
    note('the time begins anew'),
    [load(r2, choice.at.now), store(at(r9, Affinity.seen), r2)],
  ];
}

function requireMember(family: SocketFamily, { member, endpoint }: ConnectStack, otherwise: string): Part {
  return [
    note(`is it still an endpoint of the pool: members${family.digit}[pool, endpoint]?`),
    [clear(member), store(member.at.pool, r7)],
    copyAddress(family, wordsOf(endpoint), wordsOf(member)),
    [load(r2, endpoint.at.port), store(member.at.port, r2)],
    [lookup(`members${family.digit}`, member), when(r0, '==', 0, otherwise)],
  ];
}

export function rememberClient(family: SocketFamily, { choice, affinityKey, affinity, endpoint }: ConnectStack): Part {
  return [
    note('the client keeps this endpoint'),
    clear(affinity),
    [load(r2, choice.at.now), store(affinity.at.seen, r2)],
    copyAddress(family, wordsOf(endpoint), wordsOf(affinity)),
    [load(r2, endpoint.at.port), store(affinity.at.port, r2)],
    note(`affinity${family.digit}[client, pool] = now, endpoint`),
    update(`affinity${family.digit}`, affinityKey, affinity),
  ];
}
