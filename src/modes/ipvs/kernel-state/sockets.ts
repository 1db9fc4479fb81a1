import { IpsetSocket } from '../../../kernel/ipset/index.ts';
import { IpvsSocket } from '../../../kernel/ipvs/index.ts';
import type { NetworkNamespace } from '../../../kernel/netns.ts';
import { RouteSocket } from '../../../kernel/rtnetlink/index.ts';

/** What the kernel is reached through, shared by both families. */
export interface Sockets {
  readonly ipvs: IpvsSocket;
  readonly ipset: IpsetSocket;
  readonly route: RouteSocket;
  /** For statistics, which are read one after another. */
  readonly reader: IpvsSocket;
}

/** All of them, or none if one cannot be had. */
export function openSockets(namespace: NetworkNamespace | undefined): Sockets {
  const opened: { close(): void }[] = [];
  const keep = <T extends { close(): void }>(socket: T): T => {
    opened.push(socket);
    return socket;
  };
  try {
    return {
      ipvs: keep(IpvsSocket.open({ namespace })),
      ipset: keep(IpsetSocket.open({ namespace })),
      route: keep(RouteSocket.open({ namespace })),
      reader: keep(IpvsSocket.open({ namespace })),
    };
  } catch (error) {
    for (const socket of opened) socket.close();
    throw error;
  }
}

export function closeSockets({ ipvs, ipset, route, reader }: Sockets): void {
  for (const socket of [ipvs, ipset, route, reader]) socket.close();
}
