import {
  at,
  call,
  frame,
  load,
  lookup,
  note,
  type Part,
  r0,
  r1,
  r2,
  set,
  setWide,
  store,
  struct,
  u64,
  when,
} from '../../../../kernel/bpf/index.ts';
import { IPPROTO_TCP } from '../frontend-key.ts';
import { SockAddr } from '../layout.ts';
import type { ProgramOptions } from '../program-options.ts';
import { ctx } from './socket-family.ts';

/** r0 becomes the cookie of the socket's network namespace. */
export function readNamespace(): Part {
  return [set(r1, ctx), call('get_netns_cookie')];
}

/** Goes to `otherwise` if the socket does not belong to the node's own network namespace. */
export function requireNodeNamespace({ nodeCookie }: ProgramOptions, otherwise: string): Part {
  return [readNamespace(), setWide(r1, nodeCookie), when(r0, '!=', r1, otherwise)];
}

/** Goes to `otherwise` if the socket is not a TCP socket. */
export function requireTcp(otherwise: string): Part {
  return [note('only TCP'), load(r2, at(ctx, SockAddr.protocol)), when(r2, '!=', IPPROTO_TCP, otherwise)];
}

const { namespace } = frame({ namespace: struct({ cookie: u64 }) });

/** Goes to `otherwise` if these programs do not serve the socket's network namespace. */
export function requireScope(options: ProgramOptions, otherwise: string): Part {
  switch (options.scope) {
    case 'all':
      return [];
    case 'node':
      return [note('only sockets of the node itself'), requireNodeNamespace(options, otherwise)];
    case 'listed':
      return [
        note('only sockets of namespaces[cookie]'),
        [readNamespace(), store(namespace.at.cookie, r0)],
        [lookup('namespaces', namespace), when(r0, '==', 0, otherwise)],
      ];
  }
}
