import {
  alu,
  at,
  label,
  load,
  lookup,
  note,
  type Part,
  type Place,
  r0,
  r1,
  r2,
  r7,
  r8,
  set,
  setWide,
  store,
  when,
} from '../../../../kernel/bpf/index.ts';
import { Target, TargetFlag } from '../layout.ts';
import type { ProgramOptions } from '../program-options.ts';
import { keptTargetWord, targetWord } from './find-target.ts';
import { requireLease } from './lease.ts';
import { readNamespace } from './scope.ts';
import type { SocketFamily } from './socket-family.ts';
import type { ConnectStack } from './stack.ts';

/** r7 becomes the pool, r8 its run. r0 is the address of the target. A target that refuses goes to `refuse`. */
export function readTarget(family: SocketFamily, stack: ConnectStack, options: ProgramOptions): Part {
  const { choice, index } = stack;
  const forAll = `for-all-${family.name}`;
  return [
    note('pool and flags, in one load'),
    [load(r2, targetWord(r0)), store(keptTargetWord(stack), r2)],
    keepRest(stack, options),
    requireLease(stack),
    note("the socket's network namespace"),
    [readNamespace(), store(choice.at.namespace, r0)],
    note('is the target only for the node?'),
    [load(r1, choice.at.flags), alu(r1, '&', TargetFlag.nodeOnly), when(r1, '==', 0, forAll)],
    [setWide(r1, options.nodeCookie), when(r0, '!=', r1, 'leave')],
    label(forAll),
    note('does the target refuse?'),
    load(r1, choice.at.flags),
    when(r1, '&', TargetFlag.refuse, options.canRefuse ? `refuse-${family.name}` : 'leave'),
    note('run = pools[pool]: first and count, in one load'),
    [load(r7, choice.at.pool), store(index.at.value, r7)],
    [lookup('pools', index), when(r0, '==', 0, 'leave')],
    [load(r8, whole(r0)), store(choice.at.run, r8)],
    note('a pool without endpoints is left to the network'),
    [set(r2, r8), alu(r2, '>>', 32), when(r2, '==', 0, 'leave')],
  ];
}

function keepRest({ choice }: ConnectStack, options: ProgramOptions): Part {
  const keep = (field: 'affinitySeconds' | 'identity' | 'counter') => [
    load(r2, at(r0, Target[field])),
    store(choice.at[field], r2),
  ];
  return [
    note('what the rest of the program needs of the target'),
    options.hasAffinity ? [keep('affinitySeconds'), keep('identity')] : [],
    options.countsConnections ? keep('counter') : [],
  ];
}

function whole(base: Place['base']): Place {
  return { base, offset: 0, size: 8 };
}
