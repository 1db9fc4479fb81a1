import type { Node } from '../../api/index.ts';
import { RouteSocket } from '../../kernel/rtnetlink/index.ts';
import type { NodeIPs } from '../../model/index.ts';
import { MODES } from '../../modes/index.ts';
import { type Ip, parseIp } from '../../net/index.ts';

const LOOPBACK = ['127.0.0.1', '::1'].flatMap(text => parseIp(text) ?? []);

/** The addresses of this machine, without those that a mode gave to a link of its own. */
export function machineIPs(): readonly Ip[] {
  const socket = RouteSocket.open();
  try {
    const own = MODES.flatMap(({ link }) => (link === undefined ? [] : (socket.link(link)?.index ?? [])));
    return socket.addresses({}).flatMap(({ ip, index }) => (own.includes(index) ? [] : [ip]));
  } finally {
    socket.close();
  }
}

/**
 * The addresses of another machine's interfaces, as far as its Node shows them. An external address is often not on an
 * interface, but in a router before the machine.
 */
export function nodeInterfaceIPs(node: Node | undefined, { IPv4, IPv6 }: NodeIPs): readonly Ip[] {
  const internal = (node?.addresses ?? []).filter(({ type }) => type === 'InternalIP');
  const ips = internal.map(({ address }) => parseIp(address)).filter(ip => ip !== undefined);
  return [...new Set([...ips, IPv4, IPv6, ...LOOPBACK])];
}
