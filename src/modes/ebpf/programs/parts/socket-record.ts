import {
  at,
  call,
  item,
  label,
  load,
  note,
  type Part,
  r0,
  r1,
  r2,
  r3,
  r4,
  r9,
  set,
  setMap,
  store,
  when,
} from '../../../../kernel/bpf/index.ts';
import { Peer, SockAddr } from '../layout.ts';
import type { ProgramOptions } from '../program-options.ts';
import { countOff, countOn } from './least-connections.ts';
import { copyAddress, ctx, type SocketFamily, wordsOf } from './socket-family.ts';
import { type ConnectStack, endedStack } from './stack.ts';

const CREATE = 1;

/** r0 becomes the address of the record of the socket in r2, or 0. */
export function recordOfSocket(flags = 0): Part {
  return [setMap(r1, 'peers'), set(r3, 0), set(r4, flags), call('sk_storage_get')];
}

/** r0 becomes the address of the socket's record, or 0. */
export function findRecord(): Part {
  return [load(r2, at(ctx, SockAddr.socket)), recordOfSocket()];
}

/** The socket remembers the Service. If it cannot, the connection works nevertheless. */
export function rememberService(family: SocketFamily, stack: ConnectStack, options: ProgramOptions): Part {
  const noRecord = `no-record-${family.name}`;
  return [
    note('the socket remembers the Service: peers[socket]'),
    [load(r2, at(ctx, SockAddr.socket)), recordOfSocket(CREATE), when(r0, '==', 0, noRecord), set(r9, r0)],
    options.hasLeastConnections
      ? [countOff(stack.ended, family.name, options.countedBy), countOn(family, stack, options.countedBy)]
      : store(at(r9, Peer.countedBy), 0),
    fillRecord(family, stack),
    label(noRecord),
  ];
}

function fillRecord(family: SocketFamily, { choice, endpoint }: ConnectStack): Part {
  return [
    note('its namespace and the address that the process named'),
    [load(r2, choice.at.namespace), store(at(r9, Peer.namespace), r2)],
    copyAddress(family, family.named, word => at(r9, item(Peer.service, word))),
    [load(r2, at(ctx, SockAddr.port)), store(at(r9, Peer.servicePort), r2)],
    note('and its endpoint'),
    copyAddress(family, wordsOf(endpoint), word => at(r9, item(Peer.endpoint, word))),
    [load(r2, endpoint.at.port), store(at(r9, Peer.endpointPort), r2)],
    store(at(r9, Peer.state), family.state),
  ];
}

/** The socket forgets the Service that it was connected to before. */
export function forgetService({ hasLeastConnections, countedBy }: ProgramOptions): Part {
  const done = 'forgotten';
  return [
    [findRecord(), when(r0, '==', 0, done), set(r9, r0)],
    hasLeastConnections ? countOff(endedStack(), 'forgotten', countedBy) : store(at(r9, Peer.countedBy), 0),
    store(at(r9, Peer.state), 0),
    label(done),
  ];
}
