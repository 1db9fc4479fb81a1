import { Flag, MessageWriter } from '../netlink/index.ts';
import { type BatchWriter, encodeCommand, encodeUnchangedTable, type Origin } from './encode-command.ts';
import { BATCH_BEGIN, BATCH_END, BATCH_HEAD } from './message.ts';
import type { Transaction } from './transaction.ts';

const NFNL_BATCH_GENID = 1;

/** The bytes of a transaction, and the command that each message came from. */
export interface Batch {
  readonly bytes: Buffer;
  /** The sequence number of the message that begins the batch. Each further message has the next number. */
  readonly first: number;
  readonly count: number;
  /** The origin of each message between begin and end. */
  readonly origins: readonly Origin[];
}

/** An upper limit for the number of messages in the batch. */
export function maxMessageCount(transaction: Transaction): number {
  let count = 3;
  for (const { object } of transaction.commands) count += object.kind === 'elements' ? object.elements.length : 1;
  return count;
}

/**
 * Writes the transaction with sequence numbers from `first` on. With a generation, the kernel applies the transaction
 * only if the ruleset still has this generation.
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
  // Kernels before 6.10 do not acknowledge the end of a batch, so the message before it asks for one too.
  addFlag(bytes, state.origins.at(-1), Flag.ACK);
  return { bytes, first, count: state.sequence - first, origins: state.origins };
}

/**
 * Writes all commands and returns whether the first message may ask for an echo. With an echo the kernel reports the
 * new generation, but it also repeats everything that the message did. A long answer would overrun the socket. So a
 * batch that begins with the removal or the flush of a table has no echo. In front of the flush of a set there is a
 * message about the table that changes nothing, and the kernel echoes that one.
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
