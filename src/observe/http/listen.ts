import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { listenTcp } from '../../kernel/sockets/index.ts';
import { readSysctl, writeSysctl } from '../../kernel/sysctl.ts';
import type { Family, Ip } from '../../net/index.ts';
import { ListenError } from './listen-error.ts';

export interface ListenAddress {
  readonly ip: Ip;
  /** 0: any free one. */
  readonly port: number;
  /** The only one: an IPv6 listener leaves the same port to an IPv4 one. Otherwise `::` listens on both families. */
  readonly family?: Family | undefined;
}

/** Opens a listener; rejects if the address cannot be had. */
export type Listen = (address: ListenAddress, onConnection: (connection: Socket) => void) => Promise<Server>;

/** In the network namespace of the process. */
export const listenHere: Listen = async (address, onConnection) => {
  const { ip, port, family } = address;
  // Half open: a caller that is done sending still wants its answer.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, onConnection);
  server.listen({ host: ip, port, ipv6Only: family === 'IPv6' });
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new ListenError(address, error);
  }
  return server;
};

/** In another network namespace. */
export function listenIn(namespace: NetworkNamespace): Listen {
  return async ({ ip, port, family }, onConnection) => {
    // A socket is v6-only if this setting says so when it is made, which happens before listenTcp returns.
    const setting = 'net/ipv6/bindv6only';
    const before = readSysctl(setting, namespace);
    writeSysctl(setting, family === 'IPv6' ? 1 : 0, namespace);
    const listening = listenTcp(namespace, ip, port, onConnection);
    writeSysctl(setting, before, namespace);
    return listening;
  };
}
