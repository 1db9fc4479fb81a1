import type { EntryCommand } from './command.ts';
import type { Entry } from './entry.ts';

/** The bytes of all entries in one message. A nested attribute holds at most 64 KiB. */
const BYTES_PER_MESSAGE = 60_000;
/** The largest entry without a comment: two IPv6 addresses, port, protocol, prefix length, counters, timeout, line. */
const MAX_ENTRY_BYTES = 160;

/** Splits commands so that the entries of each command fit into one message. */
export function splitCommands(commands: readonly EntryCommand[]): EntryCommand[] {
  return commands.flatMap(command => splitCommand(command));
}

function splitCommand(command: EntryCommand): EntryCommand[] {
  const parts: EntryCommand[] = [];
  let from = 0;
  let size = 0;
  for (const [index, entry] of command.entries.entries()) {
    const more = sizeOf(entry);
    if (size + more > BYTES_PER_MESSAGE) {
      parts.push({ ...command, entries: command.entries.slice(from, index) });
      from = index;
      size = 0;
    }
    size += more;
  }
  if (from < command.entries.length) parts.push({ ...command, entries: command.entries.slice(from) });
  return parts;
}

function sizeOf({ comment }: Entry): number {
  return comment === undefined ? MAX_ENTRY_BYTES : MAX_ENTRY_BYTES + 8 + Buffer.byteLength(comment);
}
