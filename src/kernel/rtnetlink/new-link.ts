import type { MessageWriter } from '../netlink/index.ts';
import { LinkAttribute, linkHeader } from './link.ts';
import type { NamespaceRef } from './namespace-fd.ts';

const INFO_KIND = 1;
const INFO_DATA = 2;
const VETH_INFO_PEER = 1;

interface Common {
  readonly name: string;
  readonly mtu?: number;
  /** Length of the transmit queue; the kernel's default is 1000. */
  readonly txqlen?: number;
}

export type NewLink =
  | (Common & { readonly kind: 'dummy' | 'bridge' })
  | (Common & { readonly kind: 'veth'; readonly peer: Peer });

export interface Peer {
  readonly name: string;
  /** Where the peer is put; beside the link itself if left out. */
  readonly namespace?: NamespaceRef | undefined;
}

/** `peerNamespace` is a descriptor of the peer's namespace. */
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
