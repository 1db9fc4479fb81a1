import { Flag, MessageWriter } from '../netlink/index.ts';
import { type BatchWriter, encodeCommand, encodeUnchangedTable, type Origin } from './encode-command.ts';
import { BATCH_BEGIN, BATCH_END, BATCH_HEAD } from './message.ts';
import type { Transaction } from './transaction.ts';

const NFNL_BATCH_GENID = 1;

/** A transaction as it goes to the kernel, and which command each message came from. */
export interface Batch {
  readonly bytes: Buffer;
  /** Sequence number of the first message, which begins the batch; the others follow it one by one. */
  readonly first: number;
  readonly count: number;
  /** Of each message between begin and end. */
  readonly origins: readonly Origin[];
}

/** No fewer messages than the batch will have. */
export function maxMessageCount(transaction: Transaction): number {
  let bound = 3;
  for (const { object } of transaction.commands) bound += object.kind === 'elements' ? object.elements.length : 1;
  return bound;
}

/**
 * Writes the transaction with sequence numbers from `first` on. With a generation the kernel applies it only if the
 * ruleset still has that one.
 */
export function encodeBatch(transaction: Transaction, first: number, generation?: number): Batch {
  const writer = new MessageWriter(16 << 10);
  const state: BatchWriter = { writer, transaction, origins: [], sequence: first };
  writer.begin(BATCH_BEGIN, Flag.REQUEST, state.sequence++).struct(BATCH_HEAD);
  if (generation !== undefined) writer.u32BE(NFNL_BATCH_GENID, generation);
  writer.end();
  const echo = encodeCommands(state);
  writer
    .begin(BATCH_END, Flag.REQUEST | Flag.ACK, state.sequence++)
    .struct(BATCH_HEAD)
    .end();
  const { bytes } = writer;
  if (echo) addFlag(bytes, state.origins[0], Flag.ECHO);
  // Kernels before 6.10 do not acknowledge the end of a batch, so the message before it asks too.
  addFlag(bytes, state.origins.at(-1), Flag.ACK);
  return { bytes, first, count: state.sequence - first, origins: state.origins };
}

/**
 * The kernel says which generation a batch became if the first message behind the beginning wants an echo, but then
 * also repeats all that the message did. That must not be much, or the answer overruns the socket: a table that goes
 * with all that is in it gets no echo, a set that is emptied has its table named in front of it, which changes nothing.
 */
function encodeCommands(state: BatchWriter): boolean {
  const { commands } = state.transaction;
  const [first] = commands;
  const removes = first?.verb === 'flush' || first?.verb === 'delete';
  if (first?.verb === 'flush' && (first.object.kind === 'set' || first.object.kind === 'map'))
    encodeUnchangedTable(state, first);
  for (const command of commands) encodeCommand(state, command);
  return !(removes && first.object.kind === 'table');
}

function addFlag(bytes: Buffer, message: Origin | undefined, flag: number): void {
  if (message) bytes.writeUInt16LE(bytes.readUInt16LE(message.at + 6) | flag, message.at + 6);
}
