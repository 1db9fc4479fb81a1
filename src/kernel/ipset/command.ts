import type { MessageWriter } from '../netlink/index.ts';
import { type Entry, encodeAdded, encodeDeleted, printElement, printEntry } from './entry.ts';
import { Attr, encodeHead, IpsetMessage, NET_BYTEORDER } from './message.ts';
import { encodeCreate, type IpSet, printCreate } from './set.ts';

/** A line of `ipset restore`. `add` and `del` stand for one line per entry. */
export type Command = CreateCommand | SetCommand | EntryCommand;

export interface CreateCommand {
  readonly kind: 'create';
  readonly set: IpSet;
}

export type SetCommand =
  // Without a name the command concerns all sets.
  | { readonly kind: 'destroy' | 'flush'; readonly name?: string }
  | { readonly kind: 'rename' | 'swap'; readonly name: string; readonly name2: string };

export interface EntryCommand {
  readonly kind: 'add' | 'del';
  readonly name: string;
  readonly entries: readonly Entry[];
}

export function isEntryCommand(command: Command): command is EntryCommand {
  return command.kind === 'add' || command.kind === 'del';
}

const TYPES = {
  create: IpsetMessage.CREATE,
  destroy: IpsetMessage.DESTROY,
  flush: IpsetMessage.FLUSH,
  rename: IpsetMessage.RENAME,
  swap: IpsetMessage.SWAP,
  add: IpsetMessage.ADD,
  del: IpsetMessage.DEL,
} as const;

export function messageType(kind: Command['kind']): number {
  return TYPES[kind];
}

/** Writes the body of a command on sets. `revision` is the revision of the type of the set to create. */
export function encodeSetCommand(
  writer: MessageWriter,
  protocol: number,
  command: CreateCommand | SetCommand,
  revision: number,
): void {
  if (command.kind === 'create') {
    encodeCreate(writer, protocol, command.set, revision);
    return;
  }
  encodeHead(writer, protocol);
  if (command.name !== undefined) writer.string(Attr.SETNAME, command.name);
  if (command.kind === 'rename' || command.kind === 'swap') writer.string(Attr.SETNAME2, command.name2);
}

const ENCODE = { add: encodeAdded, del: encodeDeleted } as const;

/** Writes the body of `add` or `del` of one entry. */
export function encodeSingle(writer: MessageWriter, protocol: number, { kind, name, entries }: EntryCommand): void {
  const [entry] = entries;
  if (!entry || entries.length > 1) throw new RangeError(`expected one entry, not ${entries.length}`);
  encodeHead(writer, protocol);
  writer.string(Attr.SETNAME, name);
  ENCODE[kind](writer, entry, 0);
}

/**
 * Writes the body of `add` or `del` of several entries. The kernel handles the entries in order and stops at the first
 * that it refuses. Its error then carries a copy of the message, whose LINENO is that entry's line, counted from 1.
 */
export function encodeSeveral(writer: MessageWriter, protocol: number, { kind, name, entries }: EntryCommand): void {
  encodeHead(writer, protocol);
  writer.string(Attr.SETNAME, name).u32BE(Attr.LINENO | NET_BYTEORDER, 1);
  const nest = writer.nest(Attr.ADT);
  for (const [index, entry] of entries.entries()) ENCODE[kind](writer, entry, index + 1);
  writer.close(nest);
}

/** The lines of a command in the notation of `ipset save` and `ipset restore`. */
export function printCommand(command: Command): string {
  switch (command.kind) {
    case 'create':
      return printCreate(command.set);
    case 'destroy':
    case 'flush':
      return command.name === undefined ? command.kind : `${command.kind} ${command.name}`;
    case 'rename':
    case 'swap':
      return `${command.kind} ${command.name} ${command.name2}`;
    case 'add':
    case 'del':
      return command.entries.map(entry => printLine(command, entry)).join('\n');
  }
}

/** `add KUBE-CLUSTER-IP 10.96.0.1,tcp:80` */
export function printLine({ kind, name }: EntryCommand, entry: Entry): string {
  return `${kind} ${name} ${kind === 'add' ? printEntry(entry) : printElement(entry)}`;
}
