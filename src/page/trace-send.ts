import { QueryError } from '../inspect/index.ts';
import { type Ip, isHostCidr, joinHostPort } from '../net/index.ts';
import type { PacketSelection } from '../trace/index.ts';

/** A connection that the node itself opens, so that there is a packet to follow. */
export interface SentConnection {
  readonly protocol: 'TCP' | 'UDP';
  readonly ip: Ip;
  readonly port: number;
  /** `10.96.0.10:80` */
  readonly text: string;
}

/** Whether a connection of the node to `10.96.0.10:80/tcp` meets a frontend of a Service. */
export type IsServed = (to: string) => Promise<boolean>;

/**
 * Throws a `QueryError` if the selection has no packet that the node could send, or if no Service has the address.
 * Otherwise everyone who may see the page could look for open ports from the node.
 */
export async function sentConnection(selection: PacketSelection, isServed: IsServed): Promise<SentConnection> {
  const sent = firstConnection(selection);
  if (await isServed(`${sent.text}/${sent.protocol.toLowerCase()}`)) return sent;
  throw new QueryError(`no Service has the address ${sent.text}, so the node does not send to it: ask without send`);
}

function firstConnection({ source, destinations }: PacketSelection): SentConnection {
  if (source !== undefined && source !== 'node') {
    throw new QueryError('the node can only send its own packets: ask without send, or from=node');
  }
  for (const { address, port, protocol = 'TCP' } of destinations) {
    if (address === 'node' || !isHostCidr(address) || port === undefined || protocol === 'SCTP') continue;
    const ip = address.address;
    return { protocol, ip, port, text: joinHostPort(ip, port) };
  }
  throw new QueryError('the node can only send to one IP and a port of TCP or UDP: ask without send, or for IP:PORT');
}
