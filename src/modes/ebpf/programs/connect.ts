import {
  addAtomic,
  at,
  call,
  exit,
  go,
  label,
  load,
  lookup,
  note,
  type Part,
  r0,
  r1,
  r2,
  r7,
  returns,
  set,
  store,
  when,
} from '../../../kernel/bpf/index.ts';
import { SockAddr } from './layout.ts';
import { chooseEndpoint } from './parts/choose-endpoint.ts';
import { eitherFamily } from './parts/either-family.ts';
import { findTarget, requireSameTarget } from './parts/find-target.ts';
import { readTarget } from './parts/read-target.ts';
import { requireScope, requireTcp } from './parts/scope.ts';
import { copyAddress, ctx, type SocketFamily, V4, wordsOf } from './parts/socket-family.ts';
import { forgetService, rememberService } from './parts/socket-record.ts';
import { type ConnectStack, connectStack } from './parts/stack.ts';
import type { ProgramOptions } from './program-options.ts';

const ECONNREFUSED = 111;
/** What the program returns: 0 fails connect(), 1 goes on. */
const verdict = r7;

/** `connect()` on an IPv4 socket. */
export function connect4(options: ProgramOptions): Part {
  return connectProgram(options, translate(V4, options));
}

/** `connect()` on an IPv6 socket, with an address of either family. */
export function connect6(options: ProgramOptions): Part {
  return connectProgram(
    options,
    eitherFamily(family => translate(family, options)),
  );
}

/** What the program does not know it leaves alone. The packets then meet the rules of the network. */
function connectProgram(options: ProgramOptions, body: Part): Part {
  return [
    [note('the context'), set(ctx, r1)],
    requireTcp('not-tcp'),
    requireScope(options, 'leave'),
    body,
    options.canRefuse ? refuse() : [],
    leave(options),
    [label('not-tcp'), note('other protocols'), returns(1)],
  ];
}

function translate(family: SocketFamily, options: ProgramOptions): Part {
  const stack = connectStack(family);
  return [
    findTarget(family, stack, options),
    readTarget(family, stack, options),
    chooseEndpoint(family, stack, options),
    requireSameTarget(family, stack),
    options.countsConnections ? countConnection(family, stack) : [],
    rememberService(family, stack, options),
    rewrite(family, stack),
    options.canRefuse ? refuseSameTarget(family, stack) : [],
  ];
}

function rewrite(family: SocketFamily, { endpoint }: ConnectStack): Part {
  return [
    note('the socket connects to the endpoint'),
    copyAddress(family, wordsOf(endpoint), family.named),
    [load(r2, endpoint.at.port), store(at(ctx, SockAddr.port), r2)],
    returns(1),
  ];
}

function countConnection({ name }: SocketFamily, { choice, index }: ConnectStack): Part {
  const done = `no-counter-${name}`;
  return [
    note('counts[counter] += 1'),
    [load(r2, choice.at.counter), store(index.at.value, r2)],
    [lookup('counts', index), when(r0, '==', 0, done)],
    // Another program may run on this processor in between.
    [set(r2, 1), addAtomic({ base: r0, offset: 0, size: 8 }, r2)],
    label(done),
  ];
}

function refuseSameTarget(family: SocketFamily, stack: ConnectStack): Part {
  return [label(`refuse-${family.name}`), requireSameTarget(family, stack), go('refuse')];
}

function refuse(): Part {
  return [
    label('refuse'),
    note('no endpoint can serve: connect() fails with ECONNREFUSED'),
    [set(r1, -ECONNREFUSED), call('set_retval'), set(verdict, 0), go('forget')],
  ];
}

function leave(options: ProgramOptions): Part {
  return [
    note('the network serves the address that the process named'),
    [label('leave'), set(verdict, 1)],
    note('the socket forgets an earlier Service'),
    [label('forget'), forgetService(options)],
    note('the verdict'),
    [set(r0, verdict), exit()],
  ];
}
