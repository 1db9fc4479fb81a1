import { IpsetSocket } from '../../../kernel/ipset/index.ts';
import { IpvsSocket } from '../../../kernel/ipvs/index.ts';
import type { NetworkNamespace } from '../../../kernel/netns.ts';
import { RouteSocket } from '../../../kernel/rtnetlink/index.ts';

/** The sockets to the kernel. Both families share them. */
export interface Sockets {
  readonly ipvs: IpvsSocket;
  readonly ipset: IpsetSocket;
  readonly route: RouteSocket;
  /** For statistics, which the mode reads beside writes. */
  readonly statistics: IpvsSocket;
  close(): void;
}

/** Leaves none open if one cannot be opened. */
export function openSockets(namespace: NetworkNamespace | undefined): Sockets {
  const opened: { close(): void }[] = [];
  const keep = <T extends { close(): void }>(socket: T): T => {
    opened.push(socket);
    return socket;
  };
  const close = () => {
    for (const socket of opened) socket.close();
  };
  try {
    return {
      ipvs: keep(IpvsSocket.open({ namespace })),
      ipset: keep(IpsetSocket.open({ namespace })),
      route: keep(RouteSocket.open({ namespace })),
      statistics: keep(IpvsSocket.open({ namespace })),
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}
