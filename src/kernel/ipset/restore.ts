import type { KernelError } from '../errors.ts';
import { Flag } from '../netlink/index.ts';
import { chunks } from './chunks.ts';
import {
  type Command,
  type CreateCommand,
  type EntryCommand,
  encodeSetCommand,
  encodeSeveral,
  encodeSingle,
  isEntryCommand,
  messageType,
  printCommand,
  type SetCommand,
} from './command.ts';
import { ipsetRefusal } from './refusal.ts';
import type { Refused, Request, Requests } from './requests.ts';
import type { IpSet } from './set.ts';

/** A command, or the part of one, that the kernel refused: one entry, or several if the set itself was at fault. */
export interface Refusal {
  readonly command: Command;
  readonly error: KernelError;
}

export interface RestoreOptions {
  /** Let pass what is there already (create, add) or is not there (destroy, del), as `-exist` does. */
  readonly exist?: boolean;
}

export interface RestoreContext {
  readonly requests: Requests;
  readonly protocol: number;
  revision(set: IpSet): Promise<number>;
}

type OnSets = CreateCommand | SetCommand;

/**
 * Runs commands in order, as many in one send as may be. What is refused is returned and the rest is run all the same.
 * The order is kept between commands, except among entries that are added, or deleted, by commands next to each other.
 */
export async function restore(
  context: RestoreContext,
  commands: readonly Command[],
  { exist = false }: RestoreOptions,
): Promise<readonly Refusal[]> {
  const refusals: Refusal[] = [];
  for (let from = 0; from < commands.length; ) {
    const { sets, entries } = nextRun(commands, from);
    if (sets.length > 0) refusals.push(...(await restoreSets(context, sets, exist)));
    else refusals.push(...(await restoreEntries(context, entries, exist)));
    from += sets.length + entries.length;
  }
  return refusals;
}

/**
 * Commands that may go together: any on sets, or the same one on entries. Entries behind one that is refused are sent
 * once more after the others, so what follows in another way must wait.
 */
function nextRun(commands: readonly Command[], from: number): { sets: OnSets[]; entries: EntryCommand[] } {
  const sets: OnSets[] = [];
  const entries: EntryCommand[] = [];
  for (const command of commands.slice(from)) {
    if (isEntryCommand(command)) {
      if (sets.length > 0 || (entries[0] && entries[0].kind !== command.kind)) break;
      entries.push(command);
    } else {
      if (entries.length > 0) break;
      sets.push(command);
    }
  }
  return { sets, entries };
}

async function restoreSets(context: RestoreContext, commands: readonly OnSets[], exist: boolean): Promise<Refusal[]> {
  const { requests, protocol } = context;
  const messages: Request[] = [];
  for (const command of commands) {
    const revision = command.kind === 'create' ? await context.revision(command.set) : 0;
    messages.push({
      operation: printCommand(command),
      type: messageType(command.kind),
      flags: flagsOf(command, exist),
      write: writer => encodeSetCommand(writer, protocol, command, revision),
    });
  }
  const { refusals } = await requests.ask(messages);
  return [...refusals].flatMap(([index, refused]) => refusalOf(commands[index], refused));
}

async function restoreEntries(
  context: RestoreContext,
  commands: readonly EntryCommand[],
  exist: boolean,
): Promise<Refusal[]> {
  const { requests, protocol } = context;
  const parts = chunks(commands);
  const messages = parts.map(part => request(part, exist, writer => encodeSeveral(writer, protocol, part)));
  const found: Refusal[] = [];
  const left: EntryCommand[] = [];
  const { refusals } = await requests.ask(messages);
  for (const [index, refused] of refusals) {
    const part = parts[index];
    const entry = part && refused.line !== undefined ? part.entries[refused.line - 1] : undefined;
    if (!part || !entry) {
      found.push(...refusalOf(part, refused));
      continue;
    }
    found.push(...refusalOf({ ...part, entries: [entry] }, refused));
    for (const other of part.entries.slice(refused.line)) left.push({ ...part, entries: [other] });
  }
  return [...found, ...(await restoreSingly(context, left, exist))];
}

/** One message an entry, so that any number of refusals costs no more than one more round. */
async function restoreSingly(
  { requests, protocol }: RestoreContext,
  commands: readonly EntryCommand[],
  exist: boolean,
): Promise<Refusal[]> {
  const messages = commands.map(command => request(command, exist, writer => encodeSingle(writer, protocol, command)));
  const { refusals } = await requests.ask(messages);
  return [...refusals].flatMap(([index, refused]) => refusalOf(commands[index], refused));
}

function request(command: EntryCommand, exist: boolean, write: Request['write']): Request {
  const { kind, name } = command;
  return { operation: `${kind} ${name}`, type: messageType(kind), flags: flagsOf(command, exist), write };
}

function flagsOf({ kind }: Command, exist: boolean): number {
  const strict = exist ? 0 : Flag.EXCL;
  switch (kind) {
    case 'create':
      return Flag.CREATE | strict;
    case 'destroy':
    case 'add':
    case 'del':
      return strict;
    case 'flush':
    case 'rename':
    case 'swap':
      return 0;
  }
}

function refusalOf(command: Command | undefined, { ack }: Refused): Refusal[] {
  return command ? [{ command, error: ipsetRefusal(operationOf(command), ack, typeOf(command)) }] : [];
}

function operationOf(command: Command): string {
  return isEntryCommand(command) && command.entries.length !== 1
    ? `${command.kind} ${command.name} (${command.entries.length} entries)`
    : printCommand(command);
}

function typeOf(command: Command): string | undefined {
  if (command.kind === 'create') return command.set.type;
  return isEntryCommand(command) ? command.entries[0]?.kind : undefined;
}
