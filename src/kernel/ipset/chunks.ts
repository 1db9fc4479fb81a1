import type { EntryCommand } from './command.ts';
import type { Entry } from './entry.ts';

/** Bytes of entries in one message: a nested attribute holds 64 KiB. */
const LIMIT = 60_000;
/** No entry without a comment takes more: two IPv6 addresses, port, protocol, prefix length, counters, timeout, line. */
const LARGEST = 160;

/** Splits commands so that the entries of each fit one message. */
export function chunks(commands: readonly EntryCommand[]): EntryCommand[] {
  return commands.flatMap(command => chunksOf(command));
}

function chunksOf(command: EntryCommand): EntryCommand[] {
  const parts: EntryCommand[] = [];
  let from = 0;
  let size = 0;
  for (const [index, entry] of command.entries.entries()) {
    const more = sizeOf(entry);
    if (size + more > LIMIT) {
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
  return comment === undefined ? LARGEST : LARGEST + 8 + Buffer.byteLength(comment);
}
