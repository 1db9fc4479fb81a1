import type { NetworkNamespace } from '../../kernel/netns.ts';
import { RouteSocket, RouteTable, type RouteType } from '../../kernel/rtnetlink/index.ts';
import type { Family, Ip } from '../../net/index.ts';
import type { PacketPath } from './finding.ts';

export interface Interface {
  readonly index: number;
  readonly name: string;
}

/** Where the kernel sends packets to one address. */
export interface Way {
  readonly type: RouteType;
  /** The output interface. Undefined if the route has none. */
  readonly link: Interface | undefined;
}

/** What the routing tables say about a packet. */
export interface Routing {
  /** To the address that the caller called. Undefined without a route. */
  readonly original: Way | undefined;
  /** To the endpoint, or to the called address if the proxy does not translate the packet. */
  readonly target: Way | undefined;
  /** Why there is no way to the target: the kernel's error. */
  readonly targetError: string | undefined;
  readonly originalError: string | undefined;
  readonly lo: Interface;
  /** The interface that the kernel uses to answer the caller. */
  readonly back: Interface | undefined;
}

export function readRouting({ packet, endpoint }: PacketPath, namespace: NetworkNamespace | undefined): Routing {
  const socket = RouteSocket.open({ namespace });
  try {
    const links = socket.links().map(({ index, name }) => ({ index, name }));
    const linkAt = (index: number | undefined) => links.find(link => link.index === index);
    const lookUp = (ip: Ip) => {
      const found = socket.lookUpRoute(ip);
      return 'errno' in found ? found : { type: found.type, link: linkAt(found.dev) };
    };
    const original = lookUp(packet.destination);
    const target = endpoint ? lookUp(endpoint.ip) : original;
    const back = packet.source === undefined ? undefined : lookUp(packet.source);
    return {
      original: 'errno' in original ? undefined : original,
      originalError: 'errno' in original ? original.errno : undefined,
      target: 'errno' in target ? undefined : target,
      targetError: 'errno' in target ? target.errno : undefined,
      lo: links.find(({ name }) => name === 'lo') ?? { index: 1, name: 'lo' },
      back: back && !('errno' in back) ? back.link : undefined,
    };
  } finally {
    socket.close();
  }
}

/** The interfaces that have a default route in the main table. */
export function readDefaultLinks(family: Family, namespace: NetworkNamespace | undefined): readonly Interface[] {
  const socket = RouteSocket.open({ namespace });
  try {
    const routes = socket.routes({ family, table: RouteTable.MAIN });
    const defaults = routes.filter(({ destination, type }) => destination.prefix === 0 && type === 'unicast');
    const devices = new Set(defaults.map(({ dev }) => dev));
    return socket.links().filter(({ index }) => devices.has(index));
  } finally {
    socket.close();
  }
}
