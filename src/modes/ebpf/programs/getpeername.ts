import {
  at,
  item,
  label,
  load,
  note,
  type Part,
  r0,
  r1,
  r2,
  r9,
  returns,
  set,
  store,
  when,
} from '../../../kernel/bpf/index.ts';
import { Peer, SockAddr } from './layout.ts';
import { eitherFamily } from './parts/either-family.ts';
import { copyAddress, ctx, eachWord, type SocketFamily, V4 } from './parts/socket-family.ts';
import { findRecord } from './parts/socket-record.ts';

/** `getpeername()` on an IPv4 socket. */
export function getpeername4(): Part {
  return getpeernameProgram(showService(V4));
}

/** `getpeername()` on an IPv6 socket. */
export function getpeername6(): Part {
  return getpeernameProgram(eitherFamily(showService));
}

function getpeernameProgram(body: Part): Part {
  return [
    [note('the context'), set(ctx, r1)],
    note('what the socket remembers: peers[socket]'),
    [findRecord(), when(r0, '==', 0, 'unchanged'), set(r9, r0)],
    body,
    [label('unchanged'), note('the peer is what the kernel says'), returns(1)],
  ];
}

function showService(family: SocketFamily): Part {
  const endpoint = (word: number) => at(r9, item(Peer.endpoint, word));
  return [
    note('is the peer the endpoint that the program chose?'),
    [load(r2, at(r9, Peer.state)), when(r2, '!=', family.state, 'unchanged')],
    eachWord(family, word => [load(r1, family.named(word)), load(r2, endpoint(word)), when(r1, '!=', r2, 'unchanged')]),
    [load(r1, at(ctx, SockAddr.port)), load(r2, at(r9, Peer.endpointPort)), when(r1, '!=', r2, 'unchanged')],
    note('show the Service instead'),
    copyAddress(family, word => at(r9, item(Peer.service, word)), family.named),
    [load(r2, at(r9, Peer.servicePort)), store(at(ctx, SockAddr.port), r2)],
    returns(1),
  ];
}
