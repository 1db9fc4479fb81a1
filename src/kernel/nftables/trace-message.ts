import {
  asBytes,
  asString,
  asU8,
  asU16BE,
  asU32BE,
  asU64BE,
  attributeMap,
  type Message,
  type MessageWriter,
} from '../netlink/index.ts';
import { messageType, NFGENMSG_LENGTH, NftMessage, nftMessageOf } from './message.ts';

/** One step of a traced packet: the kernel ran a rule, left a chain, or applied the policy of a base chain. */
export interface TraceMessage {
  /** The family of the table. A packet that is traced can also pass bridge and netdev tables. */
  readonly family: TraceFamily;
  readonly table: string;
  readonly chain: string;
  /** The same for all messages about a packet, until the loopback interface receives it. Numbers come again. */
  readonly id: number;
  /** `return`: the packet came to the end of a chain that a rule jumped to. */
  readonly type: 'rule' | 'return' | 'policy';
  /** NFPROTO_* of the packet: 2 is IPv4, 10 is IPv6. */
  readonly protocol: number;
  /** The rule. The end of a chain is a step of type `rule` without one. */
  readonly handle?: number;
  /** For `policy`, the policy of the chain. */
  readonly verdict: TraceVerdict;
  /** The packet's mark after the step. Zero if it has none. */
  readonly mark: number;
  /** Only in the first message of each base chain. */
  readonly packet?: TracedHeaders;
  /** Only Linux 6.16 and later say which connection the packet belongs to. */
  readonly connection?: TracedConnection;
}

export type TraceFamily = (typeof FAMILIES)[number][1];

export type TraceVerdict =
  | { readonly kind: 'accept' | 'drop' | 'stolen' | 'queue' | 'continue' | 'break' | 'return' | 'other' }
  | { readonly kind: 'jump' | 'goto'; readonly chain: string };

/** The packet at this place. */
export interface TracedHeaders {
  readonly iif?: TracedInterface;
  readonly oif?: TracedInterface;
  readonly network: Buffer;
  readonly transport: Buffer;
  /** The header of the link layer, which packets of this machine do not have yet. */
  readonly link?: Buffer;
}

export interface TracedInterface {
  readonly index: number;
  /** ARPHRD_* */
  readonly type: number;
}

export interface TracedConnection {
  readonly id: number;
  readonly isReply: boolean;
  /** IP_CT_*-bits as `ct state` has them: 2 established, 4 related, 8 new. */
  readonly state: number;
  /** Bits of `Status` of conntrack. */
  readonly status: number;
}

const TraceAttribute = {
  TABLE: 1,
  CHAIN: 2,
  RULE_HANDLE: 3,
  TYPE: 4,
  VERDICT: 5,
  ID: 6,
  LL_HEADER: 7,
  NETWORK_HEADER: 8,
  TRANSPORT_HEADER: 9,
  IIF: 10,
  IIFTYPE: 11,
  OIF: 12,
  OIFTYPE: 13,
  MARK: 14,
  NFPROTO: 15,
  POLICY: 16,
  CT_ID: 18,
  CT_DIRECTION: 19,
  CT_STATUS: 20,
  CT_STATE: 21,
} as const;

const FAMILIES = [
  [1, 'inet'],
  [2, 'ip'],
  [3, 'arp'],
  [5, 'netdev'],
  [7, 'bridge'],
  [10, 'ip6'],
] as const;
/** NFT_TRACETYPE_*, from 1. */
const TYPES = ['policy', 'return', 'rule'] as const;
const VERDICT_CODE = 1;
const VERDICT_CHAIN = 2;
const VERDICTS = [
  [0, 'drop'],
  [1, 'accept'],
  [2, 'stolen'],
  [3, 'queue'],
  [-1, 'continue'],
  [-2, 'break'],
  [-3, 'jump'],
  [-4, 'goto'],
  [-5, 'return'],
] as const;
/** The upper bits of a verdict have a number: of a queue, or the errno that the sender gets for a drop. */
const VERDICT_MASK = 0xff;

/** Decodes NFT_MSG_TRACE. Returns undefined for other messages, and for those of a family that is not known. */
export function decodeTrace(message: Message): TraceMessage | undefined {
  if (nftMessageOf(message) !== NftMessage.TRACE) return undefined;
  const family = FAMILIES.find(([number]) => number === message.body[0])?.[1];
  const attributes = attributeMap(message.body, NFGENMSG_LENGTH);
  const table = asString(attributes.get(TraceAttribute.TABLE));
  const chain = asString(attributes.get(TraceAttribute.CHAIN));
  const id = asU32BE(attributes.get(TraceAttribute.ID));
  const type = TYPES[(asU32BE(attributes.get(TraceAttribute.TYPE)) ?? 0) - 1];
  if (!family || table === undefined || chain === undefined || id === undefined || !type) return undefined;
  const handle = asU64BE(attributes.get(TraceAttribute.RULE_HANDLE));
  const packet = headersIn(attributes);
  const connection = connectionIn(attributes);
  return {
    family,
    table,
    chain,
    id,
    type,
    protocol: asU32BE(attributes.get(TraceAttribute.NFPROTO)) ?? 0,
    ...(handle !== undefined && { handle: Number(handle) }),
    verdict: verdictIn(attributes),
    mark: asU32BE(attributes.get(TraceAttribute.MARK)) ?? 0,
    ...(packet && { packet }),
    ...(connection && { connection }),
  };
}

/** Writes NFT_MSG_TRACE as the kernel does, for tests. */
export function encodeTrace(writer: MessageWriter, trace: TraceMessage): void {
  const family = FAMILIES.find(([, name]) => name === trace.family)?.[0] ?? 0;
  writer.begin(messageType(NftMessage.TRACE), 0, 0).struct(Buffer.from([family, 0, 0, 0]));
  const { packet, connection } = trace;
  writer.u32BE(TraceAttribute.NFPROTO, trace.protocol);
  writer.u32BE(TraceAttribute.TYPE, TYPES.indexOf(trace.type) + 1).u32BE(TraceAttribute.ID, trace.id);
  writer.string(TraceAttribute.CHAIN, trace.chain).string(TraceAttribute.TABLE, trace.table);
  if (trace.handle !== undefined) writer.u64BE(TraceAttribute.RULE_HANDLE, BigInt(trace.handle));
  encodeVerdict(writer, trace);
  if (trace.mark !== 0) writer.u32BE(TraceAttribute.MARK, trace.mark);
  if (packet) encodeHeaders(writer, packet);
  if (connection) {
    writer.u32BE(TraceAttribute.CT_STATE, connection.state);
    writer.u8(TraceAttribute.CT_DIRECTION, connection.isReply ? 1 : 0);
    writer.u32BE(TraceAttribute.CT_ID, connection.id).u32BE(TraceAttribute.CT_STATUS, connection.status);
  }
  writer.end();
}

function encodeHeaders(writer: MessageWriter, { iif, oif, network, transport, link }: TracedHeaders): void {
  if (iif) writer.u32BE(TraceAttribute.IIF, iif.index).u16BE(TraceAttribute.IIFTYPE, iif.type);
  if (oif) writer.u32BE(TraceAttribute.OIF, oif.index).u16BE(TraceAttribute.OIFTYPE, oif.type);
  writer.data(TraceAttribute.NETWORK_HEADER, network).data(TraceAttribute.TRANSPORT_HEADER, transport);
  if (link) writer.data(TraceAttribute.LL_HEADER, link);
}

function encodeVerdict(writer: MessageWriter, { type, verdict }: TraceMessage): void {
  const code = VERDICTS.find(([, kind]) => kind === verdict.kind)?.[0] ?? VERDICT_MASK;
  if (type === 'policy') {
    writer.u32BE(TraceAttribute.POLICY, code);
    return;
  }
  const nest = writer.nest(TraceAttribute.VERDICT);
  writer.u32BE(VERDICT_CODE, code);
  if ('chain' in verdict) writer.string(VERDICT_CHAIN, verdict.chain);
  writer.close(nest);
}

function verdictIn(attributes: ReadonlyMap<number, Buffer>): TraceVerdict {
  const policy = asU32BE(attributes.get(TraceAttribute.POLICY));
  if (policy !== undefined) return { kind: policy === 0 ? 'drop' : 'accept' };
  const nest = attributes.get(TraceAttribute.VERDICT);
  if (!nest) return { kind: 'other' };
  const inner = attributeMap(nest);
  const code = (asU32BE(inner.get(VERDICT_CODE)) ?? VERDICT_MASK) | 0;
  const plain = code < 0 ? code : code & VERDICT_MASK;
  const kind = VERDICTS.find(([number]) => number === plain)?.[1] ?? 'other';
  if (kind !== 'jump' && kind !== 'goto') return { kind };
  return { kind, chain: asString(inner.get(VERDICT_CHAIN)) ?? '' };
}

function headersIn(attributes: ReadonlyMap<number, Buffer>): TracedHeaders | undefined {
  const network = asBytes(attributes.get(TraceAttribute.NETWORK_HEADER));
  if (!network) return undefined;
  const iif = interfaceIn(attributes, TraceAttribute.IIF, TraceAttribute.IIFTYPE);
  const oif = interfaceIn(attributes, TraceAttribute.OIF, TraceAttribute.OIFTYPE);
  const link = asBytes(attributes.get(TraceAttribute.LL_HEADER));
  return {
    ...(iif && { iif }),
    ...(oif && { oif }),
    network,
    transport: asBytes(attributes.get(TraceAttribute.TRANSPORT_HEADER)) ?? Buffer.alloc(0),
    ...(link && { link }),
  };
}

function interfaceIn(
  attributes: ReadonlyMap<number, Buffer>,
  indexAttribute: number,
  typeAttribute: number,
): TracedInterface | undefined {
  const index = asU32BE(attributes.get(indexAttribute));
  return index ? { index, type: asU16BE(attributes.get(typeAttribute)) ?? 0 } : undefined;
}

function connectionIn(attributes: ReadonlyMap<number, Buffer>): TracedConnection | undefined {
  const id = asU32BE(attributes.get(TraceAttribute.CT_ID));
  if (id === undefined) return undefined;
  return {
    id,
    isReply: asU8(attributes.get(TraceAttribute.CT_DIRECTION)) === 1,
    status: asU32BE(attributes.get(TraceAttribute.CT_STATUS)) ?? 0,
    state: asU32BE(attributes.get(TraceAttribute.CT_STATE)) ?? 0,
  };
}
