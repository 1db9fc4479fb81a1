import {
  alu,
  at,
  clear,
  label,
  load,
  lookup,
  note,
  type Part,
  type Place,
  type Register,
  r0,
  r1,
  r2,
  r7,
  store,
  when,
} from '../../../../kernel/bpf/index.ts';
import { IPPROTO_TCP } from '../frontend-key.ts';
import { NodeAddress, SockAddr, Target } from '../layout.ts';
import type { ProgramOptions } from '../program-options.ts';
import { requireNodeNamespace } from './scope.ts';
import { copyAddress, ctx, eachWord, type SocketFamily, wordsOf } from './socket-family.ts';
import type { ConnectStack } from './stack.ts';

/** Makes `key` the frontend that the process named, and r0 the address of its target. Else goes to `leave`. */
export function findTarget(family: SocketFamily, stack: ConnectStack, options: ProgramOptions): Part {
  const { key } = stack;
  const [frontends, nodeAddresses] = [`frontends${family.digit}`, `nodeAddresses${family.digit}`];
  const [found, nodePort] = [`found-${family.name}`, `node-port-${family.name}`];
  return [
    requireAddress(family),
    note('key = the address and port that the process named'),
    clear(key),
    copyAddress(family, family.named, wordsOf(key)),
    [load(r2, at(ctx, SockAddr.port)), store(key.at.port, r2), store(key.at.protocol, IPPROTO_TCP)],
    note(`target = ${frontends}[key]`),
    [lookup(frontends, key), when(r0, '!=', 0, found)],
    note('no Service has this address: is it a node port?'),
    [lookup(nodeAddresses, key), when(r0, '==', 0, 'leave')],
    [load(r7, { base: r0, offset: 0, size: 4 }), when(r7, '!=', NodeAddress.loopback, nodePort)],
    note('a loopback address is the node only in its own namespace'),
    requireNodeNamespace(options, 'leave'),
    label(nodePort),
    note(`target = ${frontends}[any address, port]`),
    eachWord(family, word => store(wordsOf(key)(word), 0)),
    [lookup(frontends, key), when(r0, '==', 0, 'leave')],
    label(found),
  ];
}

/** The address 0 is the socket's own machine. Without this check it would find the key of a node port. */
function requireAddress(family: SocketFamily): Part {
  const [first, ...rest] = Array.from({ length: family.words }, (_, word) => family.named(word));
  if (!first) throw new RangeError('an address has no words');
  return [
    note('the address 0 means this machine'),
    load(r2, first),
    rest.map(word => [load(r1, word), alu(r2, '|', r1)]),
    when(r2, '==', 0, 'leave'),
  ];
}

/** Pool and flags of a target as one number: programs must read both at once. */
export function targetWord(base: Register): Place {
  return { base, offset: Target.pool.offset, size: 8 };
}

/**
 * Goes to `leave` if the target is not the one that the choice began with. The kernel reuses elements of a hash map at
 * once, so the program may have read the target of another Service.
 */
export function requireSameTarget(family: SocketFamily, stack: ConnectStack): Part {
  return [
    note('is it still the same target?'),
    [lookup(`frontends${family.digit}`, stack.key), when(r0, '==', 0, 'leave')],
    [load(r1, targetWord(r0)), load(r2, keptTargetWord(stack)), when(r1, '!=', r2, 'leave')],
  ];
}

/** Where the stack keeps pool and flags. */
export function keptTargetWord({ choice }: ConnectStack): Place {
  return { ...choice.at.pool, size: 8 };
}
