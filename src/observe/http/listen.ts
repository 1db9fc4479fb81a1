import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { listenTcp } from '../../kernel/sockets/index.ts';
import { readSysctl, writeSysctl } from '../../kernel/sysctl.ts';
import type { Family, Ip } from '../../net/index.ts';
import { ListenError } from './listen-error.ts';

export interface ListenAddress {
  readonly ip: Ip;
  /** 0: the kernel chooses a free port. */
  readonly port: number;
  /** Listens on this family only, so that IPv6 leaves the port free for IPv4. By default `::` listens on both. */
  readonly family?: Family | undefined;
}

/** Opens a listener. Rejects if it cannot listen on the address. */
export type Listen = (address: ListenAddress, onConnection: (connection: Socket) => void) => Promise<Server>;

/**
 * Connections that wait until this process accepts them. The kernel may allow fewer (`net.core.somaxconn`). With Node's
 * default of 511, a burst of connections makes the kernel drop those of probers, which retry only after a second.
 */
const BACKLOG = 4096;

/** Listens in the network namespace of the process. */
export const listenHere: Listen = async (address, onConnection) => {
  const { ip, port, family } = address;
  // Half open: a caller that has ended its side of the connection still waits for its answer.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, onConnection);
  server.listen({ host: ip, port, ipv6Only: family === 'IPv6', backlog: BACKLOG });
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new ListenError(address, error);
  }
  return server;
};

/** Listens at a Unix socket that only the user of this process can open. Rejects if the file exists. */
export async function listenUnix(path: string, onConnection: (connection: Socket) => void): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, onConnection);
  // The kernel creates the file before `listen` returns. So no other user can open it, not even for a moment.
  const before = process.umask(0o177);
  try {
    server.listen({ path });
  } finally {
    process.umask(before);
  }
  await once(server, 'listening');
  return server;
}

/** Listens in another network namespace. */
export function listenIn(namespace: NetworkNamespace): Listen {
  return async ({ ip, port, family }, onConnection) => {
    // The kernel reads this setting when the socket is created, which happens before listenTcp returns its promise.
    const setting = 'net/ipv6/bindv6only';
    const before = readSysctl(setting, namespace);
    writeSysctl(setting, family === 'IPv6' ? 1 : 0, namespace);
    const listening = listenTcp(namespace, ip, port, onConnection);
    writeSysctl(setting, before, namespace);
    return listening;
  };
}
