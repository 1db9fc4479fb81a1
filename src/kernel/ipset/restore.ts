import type { KernelError } from '../errors.ts';
import { Flag } from '../netlink/index.ts';
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
import { ipsetRefusalError } from './refusal.ts';
import type { RefusedRequest, Request, Requests } from './requests.ts';
import type { IpSet } from './set.ts';
import { splitCommands } from './split-commands.ts';

/** A command, or a part of it, that the kernel refused: one entry, or several entries if the set is the reason. */
export interface Refusal {
  readonly command: Command;
  readonly error: KernelError;
}

export interface RestoreOptions {
  /** Ignore sets and entries that exist already (create, add) or do not exist (destroy, del), as `-exist` does. */
  readonly exist?: boolean;
}

export interface RestoreContext {
  readonly requests: Requests;
  readonly protocol: number;
  revision(set: IpSet): Promise<number>;
}

type AnySetCommand = CreateCommand | SetCommand;

/**
 * Runs commands in order, as many in one send as possible. Returns the commands that the kernel refused, and runs all
 * others. Within adjacent `add` commands, or adjacent `del` commands, the order of entries can change.
 */
export async function restore(
  context: RestoreContext,
  commands: readonly Command[],
  { exist = false }: RestoreOptions,
): Promise<readonly Refusal[]> {
  const refusals: Refusal[] = [];
  for (let from = 0; from < commands.length; ) {
    const { sets, entries } = nextBatch(commands, from);
    if (sets.length > 0) refusals.push(...(await restoreSets(context, sets, exist)));
    else refusals.push(...(await restoreEntries(context, entries, exist)));
    from += sets.length + entries.length;
  }
  return refusals;
}

/**
 * The next commands that can go into one send: any commands on sets, or commands of one kind on entries. If the kernel
 * refuses an entry, the entries after it are sent again later. So a command of another kind must wait for that.
 */
function nextBatch(commands: readonly Command[], from: number): { sets: AnySetCommand[]; entries: EntryCommand[] } {
  const sets: AnySetCommand[] = [];
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

async function restoreSets(
  context: RestoreContext,
  commands: readonly AnySetCommand[],
  exist: boolean,
): Promise<Refusal[]> {
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
  const { refusals } = await requests.send(messages);
  return [...refusals].flatMap(([index, refused]) => refusalOf(commands[index], refused));
}

async function restoreEntries(
  context: RestoreContext,
  commands: readonly EntryCommand[],
  exist: boolean,
): Promise<Refusal[]> {
  const { requests, protocol } = context;
  const parts = splitCommands(commands);
  const messages = parts.map(part => toRequest(part, exist, writer => encodeSeveral(writer, protocol, part)));
  const found: Refusal[] = [];
  const remaining: EntryCommand[] = [];
  const { refusals } = await requests.send(messages);
  for (const [index, refused] of refusals) {
    const part = parts[index];
    const entry = part && refused.line !== undefined ? part.entries[refused.line - 1] : undefined;
    if (!part || !entry) {
      found.push(...refusalOf(part, refused));
      continue;
    }
    found.push(...refusalOf({ ...part, entries: [entry] }, refused));
    for (const other of part.entries.slice(refused.line)) remaining.push({ ...part, entries: [other] });
  }
  return [...found, ...(await restoreSingly(context, remaining, exist))];
}

/** Sends one message per entry, so that this single round is enough for any number of refusals. */
async function restoreSingly(
  { requests, protocol }: RestoreContext,
  commands: readonly EntryCommand[],
  exist: boolean,
): Promise<Refusal[]> {
  const messages = commands.map(command =>
    toRequest(command, exist, writer => encodeSingle(writer, protocol, command)),
  );
  const { refusals } = await requests.send(messages);
  return [...refusals].flatMap(([index, refused]) => refusalOf(commands[index], refused));
}

function toRequest(command: EntryCommand, exist: boolean, write: Request['write']): Request {
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

function refusalOf(command: Command | undefined, { ack }: RefusedRequest): Refusal[] {
  return command ? [{ command, error: ipsetRefusalError(operationOf(command), ack, typeOf(command)) }] : [];
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
