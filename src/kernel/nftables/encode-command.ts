import { Flag, MAX_ATTRIBUTE, type MessageWriter } from '../netlink/index.ts';
import { type Chain, ChainAttribute, encodeChain } from './chain.ts';
import type { Command, RuleHandle, SetElements } from './command.ts';
import { ElementListAttribute } from './element.ts';
import { encodeEntries, entriesFit, shapeOf } from './entries.ts';
import { beginMessage, NftMessage } from './message.ts';
import { encodeRule, type Rule, RuleAttribute } from './rule.ts';
import { encodeSet, SetAttribute, type SetOrMap } from './set.ts';
import { encodeTable, type Table, TableAttribute } from './table.ts';
import type { Transaction } from './transaction.ts';

/** Where a message of a batch came from. */
export interface Origin {
  /** The offset of the message in the bytes. */
  readonly at: number;
  readonly command: Command;
  /** The index of the first element in the message. */
  readonly element: number;
}

/** A batch while it is written. */
export interface BatchWriter {
  readonly writer: MessageWriter;
  readonly transaction: Transaction;
  readonly origins: Origin[];
  sequence: number;
}

function begin(state: BatchWriter, type: number, flags: number, command: Command, element = 0): MessageWriter {
  const { writer, transaction, origins } = state;
  const { object } = command;
  const family = object.kind === 'table' ? object.family : transaction.family;
  origins.push({ at: writer.length, command, element });
  beginMessage(writer, type, flags | Flag.REQUEST, state.sequence++, family);
  return writer;
}

/** Writes the messages of a command: one message, or as many as its elements need. */
export function encodeCommand(state: BatchWriter, command: Command): void {
  const { object } = command;
  switch (object.kind) {
    case 'table':
      encodeTableCommand(state, command, object);
      return;
    case 'chain':
      encodeChainCommand(state, command, object);
      return;
    case 'set':
    case 'map':
      encodeSetCommand(state, command, object);
      return;
    case 'rule':
    case 'rule-handle':
      encodeRuleCommand(state, command, object);
      return;
    case 'elements':
      encodeElementCommand(state, command, object);
      return;
  }
}

/** Writes a message about the table that changes nothing. */
export function encodeUnchangedTable(state: BatchWriter, command: Command): void {
  begin(state, NftMessage.NEWTABLE, 0, command).string(TableAttribute.NAME, state.transaction.table).end();
}

function flagsOf(command: Command): number {
  return command.verb === 'create' ? Flag.CREATE | Flag.EXCL : Flag.CREATE;
}

function encodeTableCommand(state: BatchWriter, command: Command, table: Table): void {
  switch (command.verb) {
    case 'delete':
      begin(state, NftMessage.DELTABLE, 0, command).string(TableAttribute.NAME, table.name).end();
      return;
    case 'flush':
      begin(state, NftMessage.DELRULE, 0, command).string(RuleAttribute.TABLE, table.name).end();
      return;
    default: {
      // nft sends no CREATE for a table, and the kernel does not need it.
      const writer = begin(state, NftMessage.NEWTABLE, flagsOf(command) & ~Flag.CREATE, command);
      encodeTable(writer, table);
      writer.end();
    }
  }
}

function encodeChainCommand(state: BatchWriter, command: Command, chain: Chain): void {
  const { table } = state.transaction;
  switch (command.verb) {
    case 'delete':
      begin(state, NftMessage.DELCHAIN, 0, command)
        .string(ChainAttribute.TABLE, table)
        .string(ChainAttribute.NAME, chain.name)
        .end();
      return;
    case 'flush':
      begin(state, NftMessage.DELRULE, 0, command)
        .string(RuleAttribute.TABLE, table)
        .string(RuleAttribute.CHAIN, chain.name)
        .end();
      return;
    default: {
      const writer = begin(state, NftMessage.NEWCHAIN, flagsOf(command), command);
      encodeChain(writer, table, chain);
      writer.end();
    }
  }
}

function encodeSetCommand(state: BatchWriter, command: Command, set: SetOrMap): void {
  const { table } = state.transaction;
  switch (command.verb) {
    case 'delete':
      begin(state, NftMessage.DELSET, 0, command)
        .string(SetAttribute.TABLE, table)
        .string(SetAttribute.NAME, set.name)
        .end();
      return;
    case 'flush':
      begin(state, NftMessage.DELSETELEM, 0, command)
        .string(ElementListAttribute.TABLE, table)
        .string(ElementListAttribute.SET, set.name)
        .end();
      return;
    default: {
      const writer = begin(state, NftMessage.NEWSET, flagsOf(command), command);
      encodeSet(writer, table, set);
      writer.end();
    }
  }
}

function encodeRuleCommand(state: BatchWriter, command: Command, rule: Rule | RuleHandle): void {
  const { table } = state.transaction;
  if (rule.kind === 'rule-handle') {
    begin(state, NftMessage.DELRULE, 0, command)
      .string(RuleAttribute.TABLE, table)
      .string(RuleAttribute.CHAIN, rule.chain)
      .u64BE(RuleAttribute.HANDLE, BigInt(rule.handle))
      .end();
    return;
  }
  const order = command.verb === 'insert' ? 0 : Flag.APPEND;
  const writer = begin(state, NftMessage.NEWRULE, flagsOf(command) | order, command);
  encodeRule(writer, table, rule);
  writer.end();
}

/**
 * Puts as many elements into a message as the length of an attribute allows. But the first message of the batch has one
 * element, because the kernel echoes it.
 */
function encodeElementCommand(state: BatchWriter, command: Command, { set, elements }: SetElements): void {
  const { writer, transaction } = state;
  const removes = command.verb === 'delete';
  const [type, flags] = removes ? [NftMessage.DELSETELEM, 0] : [NftMessage.NEWSETELEM, flagsOf(command)];
  const shape = shapeOf(set);
  const part = removes ? 'key' : 'whole';
  let next = 0;
  while (next < elements.length) {
    begin(state, type, flags, command, next)
      .string(ElementListAttribute.TABLE, transaction.table)
      .string(ElementListAttribute.SET, set.name);
    if (set.id !== undefined) writer.u32BE(ElementListAttribute.SET_ID, set.id);
    const list = writer.nest(ElementListAttribute.ELEMENTS);
    const limit = state.origins.length === 1 ? 0 : writer.length + MAX_ATTRIBUTE;
    let entry = 1;
    for (let element = elements[next]; element; element = elements[++next]) {
      if (entry > 1 && !entriesFit(shape, element, limit - writer.length)) break;
      entry += encodeEntries(writer, shape, entry, element, part);
    }
    writer.close(list).end();
  }
}
