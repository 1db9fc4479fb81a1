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
  /** Kernels before 5.10 do not keep it. */
  readonly comment?: string;
  /** The kernel's number for the table. Only listed tables have it. */
  readonly handle?: number;
}

export const TableAttribute = { NAME: 1, FLAGS: 2, USE: 3, HANDLE: 4, USERDATA: 6, OWNER: 7 } as const;
const DORMANT = 1;

export function encodeTable(writer: MessageWriter, table: Table): void {
  writer.string(TableAttribute.NAME, table.name).u32BE(TableAttribute.FLAGS, table.dormant ? DORMANT : 0);
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
    ...(comment !== undefined && { comment }),
    ...(handle !== undefined && { handle: Number(handle) }),
  };
}

/** The text after `add table ip name`. */
export function printTableBody(table: Table): string {
  const parts: string[] = [];
  if (table.dormant) parts.push(' flags dormant ;');
  if (table.comment !== undefined) parts.push(`${printComment(table.comment)} ;`);
  return parts.length > 0 ? ` {${parts.join('')} }` : '';
}
