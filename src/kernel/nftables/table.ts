import { asString, asU32BE, asU64BE, attributeMap, type Message, type MessageWriter } from '../netlink/index.ts';
import type { NftFamily } from './family.ts';
import { familyIn, NFGENMSG_LENGTH } from './message.ts';
import { commentIn, encodeComment, printComment } from './userdata.ts';

export interface Table {
  readonly kind: 'table';
  readonly family: NftFamily;
  readonly name: string;
  /** The base chains of a dormant table see no packets. */
  readonly dormant?: boolean;
  /**
   * The table belongs to the socket that created it: no other program can change it, and the kernel deletes it when the
   * socket closes, also if the process is killed. Needs Linux 5.12.
   */
  readonly owned?: boolean;
  /** Kernels before 5.10 do not keep it. */
  readonly comment?: string;
  /** The kernel's number for the table. Only listed tables have it. */
  readonly handle?: number;
}

export const TableAttribute = { NAME: 1, FLAGS: 2, USE: 3, HANDLE: 4, USERDATA: 6, OWNER: 7 } as const;
const DORMANT = 1;
const OWNER = 2;

export function encodeTable(writer: MessageWriter, table: Table): void {
  const flags = (table.dormant ? DORMANT : 0) | (table.owned ? OWNER : 0);
  writer.string(TableAttribute.NAME, table.name).u32BE(TableAttribute.FLAGS, flags);
  if (table.comment !== undefined) encodeComment(writer, TableAttribute.USERDATA, table.comment);
}

export function decodeTable(message: Message): Table | undefined {
  const family = familyIn(message.body);
  const attributes = attributeMap(message.body, NFGENMSG_LENGTH);
  const name = asString(attributes.get(TableAttribute.NAME));
  if (!family || name === undefined) return undefined;
  const flags = asU32BE(attributes.get(TableAttribute.FLAGS)) ?? 0;
  const comment = commentIn(attributes.get(TableAttribute.USERDATA));
  const handle = asU64BE(attributes.get(TableAttribute.HANDLE));
  return {
    kind: 'table',
    family,
    name,
    ...(flags & DORMANT && { dormant: true }),
    ...(flags & OWNER && { owned: true }),
    ...(comment !== undefined && { comment }),
    ...(handle !== undefined && { handle: Number(handle) }),
  };
}

/** The text after `add table ip name`. */
export function printTableBody(table: Table): string {
  const parts: string[] = [];
  const flags = [...(table.dormant ? ['dormant'] : []), ...(table.owned ? ['owner'] : [])];
  if (flags.length > 0) parts.push(` flags ${flags.join(',')} ;`);
  if (table.comment !== undefined) parts.push(`${printComment(table.comment)} ;`);
  return parts.length > 0 ? ` {${parts.join('')} }` : '';
}
