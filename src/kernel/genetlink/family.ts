import { asString, asU16, asU32, attributeMap, type MessageWriter, readAttributes } from '../netlink/index.ts';

/** The family through which all others are looked up. It is the only family with a fixed number. */
export const CONTROL = { id: 16, version: 1, GETFAMILY: 3 } as const;

const Attribute = { FAMILY_ID: 1, FAMILY_NAME: 2, VERSION: 3, HDRSIZE: 4, MAXATTR: 5, MCAST_GROUPS: 7 } as const;
const GroupAttribute = { NAME: 1, ID: 2 } as const;
const HEADER = 4;

export interface GenericFamily {
  readonly name: string;
  /** The message type of the family. The kernel assigns it when it loads the family's module. */
  readonly id: number;
  readonly version: number;
  /** The size of the family's own structure before the attributes. */
  readonly headerSize: number;
  readonly maxAttribute: number;
  /** Multicast groups by name. */
  readonly groups: ReadonlyMap<string, number>;
}

/** `struct genlmsghdr`. */
export function genericHeader(command: number, version: number): Buffer {
  return Buffer.from([command, version, 0, 0]);
}

export function encodeGetFamily(writer: MessageWriter, name: string): void {
  writer.struct(genericHeader(CONTROL.GETFAMILY, CONTROL.version)).string(Attribute.FAMILY_NAME, name);
}

export function decodeFamily(body: Buffer): GenericFamily | undefined {
  const attributes = attributeMap(body, HEADER);
  const id = asU16(attributes.get(Attribute.FAMILY_ID));
  const name = asString(attributes.get(Attribute.FAMILY_NAME));
  if (id === undefined || name === undefined) return undefined;
  return {
    name,
    id,
    version: asU32(attributes.get(Attribute.VERSION)) ?? 0,
    headerSize: asU32(attributes.get(Attribute.HDRSIZE)) ?? 0,
    maxAttribute: asU32(attributes.get(Attribute.MAXATTR)) ?? 0,
    groups: decodeGroups(attributes.get(Attribute.MCAST_GROUPS)),
  };
}

export function printGetFamily(name: string): string {
  return `genl ctrl get name ${name}`;
}

function decodeGroups(list: Buffer | undefined): ReadonlyMap<string, number> {
  const groups = new Map<string, number>();
  if (!list) return groups;
  for (const { value } of readAttributes(list)) {
    const attributes = attributeMap(value);
    const name = asString(attributes.get(GroupAttribute.NAME));
    const id = asU32(attributes.get(GroupAttribute.ID));
    if (name !== undefined && id !== undefined) groups.set(name, id);
  }
  return groups;
}
