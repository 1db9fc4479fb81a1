import type { MessageWriter } from '../netlink/index.ts';
import { LinkAttribute, linkHeader } from './link.ts';
import type { NamespaceRef } from './namespace-fd.ts';

const INFO_KIND = 1;
const INFO_DATA = 2;
const VETH_INFO_PEER = 1;

interface CommonFields {
  readonly name: string;
  readonly mtu?: number;
  /** The length of the transmit queue. The kernel's default is 1000. */
  readonly txqlen?: number;
}

export type NewLink =
  | (CommonFields & { readonly kind: 'dummy' | 'bridge' })
  | (CommonFields & { readonly kind: 'veth'; readonly peer: Peer });

export interface Peer {
  readonly name: string;
  /** The namespace of the peer. By default the namespace of the link. */
  readonly namespace?: NamespaceRef | undefined;
}

/** Writes a new link. `peerNamespace` is a descriptor of the peer's namespace. */
export function encodeNewLink(writer: MessageWriter, link: NewLink, peerNamespace?: number): void {
  writer.struct(linkHeader());
  if (link.mtu !== undefined) writer.u32(LinkAttribute.MTU, link.mtu);
  if (link.txqlen !== undefined) writer.u32(LinkAttribute.TXQLEN, link.txqlen);
  writer.string(LinkAttribute.IFNAME, link.name);
  const info = writer.nest(LinkAttribute.LINKINFO);
  writer.data(INFO_KIND, Buffer.from(link.kind));
  if (link.kind === 'veth') encodePeer(writer, link.peer, peerNamespace);
  writer.close(info);
}

function encodePeer(writer: MessageWriter, peer: Peer, namespace: number | undefined): void {
  const data = writer.nest(INFO_DATA);
  const nest = writer.nest(VETH_INFO_PEER);
  writer.struct(linkHeader());
  if (namespace !== undefined) writer.u32(LinkAttribute.NET_NS_FD, namespace);
  writer.string(LinkAttribute.IFNAME, peer.name).close(nest).close(data);
}

export function printNewLink(link: NewLink): string {
  const words = ['ip link add', link.name];
  if (link.mtu !== undefined) words.push('mtu', `${link.mtu}`);
  if (link.txqlen !== undefined) words.push('txqueuelen', `${link.txqlen}`);
  words.push('type', link.kind);
  if (link.kind === 'veth') {
    words.push('peer name', link.peer.name);
    if (link.peer.namespace) words.push('netns', link.peer.namespace.path);
  }
  return words.join(' ');
}
