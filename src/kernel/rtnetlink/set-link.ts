import type { MessageWriter } from '../netlink/index.ts';
import { LinkAttribute, LinkFlag, type LinkRef, linkHeader } from './link.ts';
import type { NamespaceRef } from './namespace-fd.ts';

const INFO_KIND = 1;
const INFO_SLAVE_DATA = 5;
const BRPORT_MODE = 4;

/** What to change about a link. What is left out stays. */
export interface LinkChange {
  readonly up?: boolean;
  /** The namespace to move the link into. It loses its addresses and its master and is down there. */
  readonly namespace?: NamespaceRef;
  /** A new name; a link that is moved gets it in the other namespace. Kernels before 6.2 refuse it while the link is up. */
  readonly name?: string;
  readonly mtu?: number;
  /** The hardware address as `ce:2a:84:6b:17:43`. A bridge that was given none takes the lowest of its ports' over and over. */
  readonly address?: string;
  /** The bridge to become a port of, or null to be no port. */
  readonly master?: LinkRef | null;
  /**
   * Whether the bridge may send back to this port what came from it. The link must be a port before: together with
   * `master`, or without one, the kernel refuses it with EOPNOTSUPP.
   */
  readonly hairpin?: boolean;
}

/** `namespace` is a descriptor of the namespace that the change names. */
export function encodeSetLink(writer: MessageWriter, link: LinkRef, change: LinkChange, namespace?: number): void {
  const mask = change.up === undefined ? 0 : LinkFlag.UP;
  writer.struct(linkHeader(link.index, change.up ? LinkFlag.UP : 0, mask));
  if (namespace !== undefined) writer.u32(LinkAttribute.NET_NS_FD, namespace);
  if (change.name !== undefined) writer.string(LinkAttribute.IFNAME, change.name);
  if (change.mtu !== undefined) writer.u32(LinkAttribute.MTU, change.mtu);
  if (change.address !== undefined) writer.data(LinkAttribute.ADDRESS, hardwareBytes(change.address));
  if (change.master !== undefined) writer.u32(LinkAttribute.MASTER, change.master?.index ?? 0);
  if (change.hairpin !== undefined) encodeHairpin(writer, change.hairpin);
}

function hardwareBytes(address: string): Buffer {
  if (!/^([0-9a-f]{2}:)+[0-9a-f]{2}$/i.test(address)) throw new RangeError(`not a hardware address: ${address}`);
  return Buffer.from(address.replaceAll(':', ''), 'hex');
}

function encodeHairpin(writer: MessageWriter, on: boolean): void {
  const info = writer.nest(LinkAttribute.LINKINFO);
  writer.data(INFO_KIND, Buffer.from('bridge_slave'));
  const data = writer.nest(INFO_SLAVE_DATA);
  writer
    .u8(BRPORT_MODE, on ? 1 : 0)
    .close(data)
    .close(info);
}

export function printSetLink(link: LinkRef, change: LinkChange): string {
  const words = ['ip link set', link.name];
  if (change.up !== undefined) words.push(change.up ? 'up' : 'down');
  if (change.namespace) words.push('netns', change.namespace.path);
  if (change.name !== undefined) words.push('name', change.name);
  if (change.mtu !== undefined) words.push('mtu', `${change.mtu}`);
  if (change.address !== undefined) words.push('address', change.address);
  if (change.master === null) words.push('nomaster');
  else if (change.master) words.push('master', change.master.name);
  if (change.hairpin !== undefined) words.push('type bridge_slave hairpin', change.hairpin ? 'on' : 'off');
  return words.join(' ');
}
