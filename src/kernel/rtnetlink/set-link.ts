import type { MessageWriter } from '../netlink/index.ts';
import { LinkAttribute, LinkFlag, type LinkRef, linkHeader } from './link.ts';
import type { NamespaceRef } from './namespace-fd.ts';

const INFO_KIND = 1;
const INFO_SLAVE_DATA = 5;
const BRPORT_MODE = 4;

/** Changes to a link. A field that is left out keeps its value. */
export interface LinkChange {
  readonly up?: boolean;
  /** The namespace to move the link to. The link loses its addresses and its master, and is down afterwards. */
  readonly namespace?: NamespaceRef;
  /** A new name. A moved link has it in the other namespace. Kernels before 6.2 refuse it while the link is up. */
  readonly name?: string;
  readonly mtu?: number;
  /**
   * The hardware address as `ce:2a:84:6b:17:43`. A bridge without an assigned address uses the lowest address of its
   * ports, so its address changes with its ports.
   */
  readonly address?: string;
  /** The bridge whose port the link becomes, or null to leave its bridge. */
  readonly master?: LinkRef | null;
  /**
   * Whether the bridge may send packets back to the port that they came from. The link must already be a port: the
   * kernel refuses this with EOPNOTSUPP together with `master`, or if the link is no port.
   */
  readonly hairpin?: boolean;
}

/** Writes changes to a link. `namespace` is a descriptor of `change.namespace`. */
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
