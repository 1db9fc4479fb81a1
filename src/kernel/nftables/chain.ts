import { asString, asU32BE, asU64BE, attributeMap, type Message, type MessageWriter } from '../netlink/index.ts';
import { NFGENMSG_LENGTH } from './message.ts';
import { commentIn, encodeComment, printComment } from './userdata.ts';

export interface Chain {
  readonly kind: 'chain';
  readonly name: string;
  /** Packets enter a base chain directly. They enter a regular chain, which has no `base`, only through a jump. */
  readonly base?: BaseChain;
  /** Kernels before 5.10 do not keep it. */
  readonly comment?: string;
  readonly handle?: number;
}

export interface BaseChain {
  readonly type: ChainType;
  readonly hook: Hook;
  /** The base chains of a hook run in ascending order of their priority. */
  readonly priority: number;
  /** By default `accept`. A decoded chain leaves `accept` out. */
  readonly policy?: 'accept' | 'drop';
}

export type ChainType = 'filter' | 'nat' | 'route';
export type Hook = (typeof HOOKS)[number];

/** In the order of their NF_INET_* numbers. */
const HOOKS = ['prerouting', 'input', 'forward', 'output', 'postrouting', 'ingress'] as const;
const POLICIES = ['drop', 'accept'] as const;
const TYPES: readonly ChainType[] = ['filter', 'nat', 'route'];

export const ChainAttribute = {
  TABLE: 1,
  HANDLE: 2,
  NAME: 3,
  HOOK: 4,
  POLICY: 5,
  USE: 6,
  TYPE: 7,
  COUNTERS: 8,
  FLAGS: 10,
  ID: 11,
  USERDATA: 12,
} as const;
export const HookAttribute = { HOOKNUM: 1, PRIORITY: 2, DEV: 3 } as const;

export function encodeChain(writer: MessageWriter, table: string, chain: Chain): void {
  const { base, comment } = chain;
  writer.string(ChainAttribute.TABLE, table).string(ChainAttribute.NAME, chain.name);
  if (base) {
    writer.string(ChainAttribute.TYPE, base.type);
    if (base.policy !== undefined) writer.u32BE(ChainAttribute.POLICY, POLICIES.indexOf(base.policy));
    const hook = writer.nest(ChainAttribute.HOOK);
    writer.u32BE(HookAttribute.HOOKNUM, HOOKS.indexOf(base.hook)).u32BE(HookAttribute.PRIORITY, base.priority);
    writer.close(hook);
  }
  if (comment !== undefined) encodeComment(writer, ChainAttribute.USERDATA, comment);
}

/** Decodes a chain and the name of its table. */
export function decodeChain(message: Message): { table: string; chain: Chain } | undefined {
  const attributes = attributeMap(message.body, NFGENMSG_LENGTH);
  const table = asString(attributes.get(ChainAttribute.TABLE));
  const name = asString(attributes.get(ChainAttribute.NAME));
  if (table === undefined || name === undefined) return undefined;
  const base = decodeBase(attributes);
  const comment = commentIn(attributes.get(ChainAttribute.USERDATA));
  const handle = asU64BE(attributes.get(ChainAttribute.HANDLE));
  const chain: Chain = {
    kind: 'chain',
    name,
    ...(base && { base }),
    ...(comment !== undefined && { comment }),
    ...(handle !== undefined && { handle: Number(handle) }),
  };
  return { table, chain };
}

/** Decodes how often a chain is used: by each of its rules, and by each rule that jumps to it. */
export function decodeChainUse(message: Message): { table: string; name: string; use: number } | undefined {
  const attributes = attributeMap(message.body, NFGENMSG_LENGTH);
  const table = asString(attributes.get(ChainAttribute.TABLE));
  const name = asString(attributes.get(ChainAttribute.NAME));
  const use = asU32BE(attributes.get(ChainAttribute.USE));
  return table === undefined || name === undefined || use === undefined ? undefined : { table, name, use };
}

function decodeBase(attributes: ReadonlyMap<number, Buffer>): BaseChain | undefined {
  const nest = attributes.get(ChainAttribute.HOOK);
  if (!nest) return undefined;
  const hooks = attributeMap(nest);
  const hook = HOOKS[asU32BE(hooks.get(HookAttribute.HOOKNUM)) ?? -1];
  const priority = asU32BE(hooks.get(HookAttribute.PRIORITY));
  const name = asString(attributes.get(ChainAttribute.TYPE));
  const type = TYPES.find(known => known === name);
  if (hook === undefined || priority === undefined || type === undefined) return undefined;
  const drops = asU32BE(attributes.get(ChainAttribute.POLICY)) === POLICIES.indexOf('drop');
  return { type, hook, priority: priority | 0, ...(drops && { policy: 'drop' }) };
}

/** The text after `add chain ip table name`. */
export function printChainBody(chain: Chain): string {
  const { base } = chain;
  const parts: string[] = [];
  if (base) {
    parts.push(` type ${base.type} hook ${base.hook} priority ${base.priority} ;`);
    if (base.policy !== undefined) parts.push(` policy ${base.policy} ;`);
  }
  if (chain.comment !== undefined) parts.push(`${printComment(chain.comment)} ;`);
  return parts.length > 0 ? ` {${parts.join('')} }` : '';
}

/** The priorities that nft prints by name, the only hook of each if it has one, and how far from it nft still uses it. */
const PRIORITY_NAMES: readonly (readonly [name: string, priority: number, hook?: Hook])[] = [
  ['raw', -300],
  ['mangle', -150],
  ['dstnat', -100, 'prerouting'],
  ['filter', 0],
  ['security', 50],
  ['srcnat', 100, 'postrouting'],
];
const PRIORITY_REACH = 10;

/** A chain as `nft list` shows it, in one line: `chain c { type nat hook prerouting priority dstnat; policy accept; }`. */
export function printListedChain({ name, base }: Chain): string {
  if (!base) return `chain ${name}`;
  const { type, hook, priority, policy = 'accept' } = base;
  return `chain ${name} { type ${type} hook ${hook} priority ${printPriority(priority, hook)}; policy ${policy}; }`;
}

function printPriority(priority: number, hook: Hook): string {
  for (const [name, known, onlyHook] of PRIORITY_NAMES) {
    const offset = priority - known;
    if (Math.abs(offset) > PRIORITY_REACH || (onlyHook !== undefined && onlyHook !== hook)) continue;
    if (offset === 0) return name;
    return `${name} ${offset < 0 ? '-' : '+'} ${Math.abs(offset)}`;
  }
  return String(priority);
}
