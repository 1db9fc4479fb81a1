import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { KernelError } from '../errors.ts';
import type { NetworkNamespace } from '../netns.ts';
import { commandLine } from './command-line.ts';
import { environment } from './environment.ts';
import { InputFile, type ProgramInput } from './input-file.ts';
import { Output, Tail } from './output.ts';
import { ProgramError, type ProgramFailure } from './program-error.ts';

const MAX_OUTPUT = 256 << 20;

export interface ProgramOptions {
  /** How long the program may take. Then it is killed, with everything that it started. */
  readonly timeoutMs: number;
  /** An `InputFile` stays the caller's to close. Without input the program reads /dev/null. */
  readonly input?: ProgramInput | InputFile | undefined;
  readonly namespace?: NetworkNamespace | undefined;
  /** Added to the few variables that every program gets: PATH and LC_ALL. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The exit statuses that are answers rather than failures; only 0 unless told. */
  readonly okStatuses?: readonly number[] | undefined;
  /** Takes the standard output as it comes; then none is kept. */
  readonly onStdout?: ((chunk: Uint8Array) => void) | undefined;
  readonly maxOutputBytes?: number | undefined;
  readonly onStart?: ((pid: number) => void) | undefined;
}

export interface ProgramResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. Throws a `ProgramError` for anything but an exit status that is all right. */
export async function runProgram(
  name: string,
  args: readonly string[],
  options: ProgramOptions,
): Promise<ProgramResult> {
  const operation = commandLine(name, args);
  const { input } = options;
  const borrowed = input === undefined || input instanceof InputFile;
  const file = borrowed ? input : InputFile.create(input);
  try {
    return await supervise(start(operation, name, args, file, options), operation, options);
  } finally {
    if (!borrowed) file?.close();
  }
}

type Running = ChildProcess & { readonly stdout: Readable; readonly stderr: Readable };

function start(
  operation: string,
  name: string,
  args: readonly string[],
  input: InputFile | undefined,
  { namespace, env }: ProgramOptions,
): Running {
  // In a group of its own: it can be killed as a whole, and a Ctrl-C meant for us does not tear it in the middle.
  const begin = () =>
    spawn(name, args, { stdio: [input?.fd ?? 'ignore', 'pipe', 'pipe'], env: environment(env), detached: true });
  let child: ChildProcess;
  try {
    // A child starts where the thread that forks it is.
    child = namespace ? namespace.run(begin) : begin();
  } catch (error) {
    throw error instanceof KernelError ? error : notStarted(operation, error);
  }
  if (isRunning(child)) return child;
  // Out of descriptors, Node makes no pipes, and says why in an event that must not go unheard.
  child.on('error', () => undefined);
  throw new ProgramError(operation, { kind: 'not-started', errno: 'EMFILE' }, '');
}

function isRunning(child: ChildProcess): child is Running {
  return Boolean(child.stdout && child.stderr);
}

function supervise(child: Running, operation: string, options: ProgramOptions): Promise<ProgramResult> {
  const { timeoutMs, okStatuses = [0], maxOutputBytes: limit = MAX_OUTPUT } = options;
  const stdout = new Output(limit, options.onStdout);
  const stderr = new Tail();
  const failed = (failure: ProgramFailure) => new ProgramError(operation, failure, stderr.text());
  const finished = new Promise<ProgramResult>((resolve, reject) => {
    const giveUp = (error: unknown) => {
      abandon(child);
      reject(error);
    };
    const timer = setTimeout(() => giveUp(failed({ kind: 'timed-out', timeoutMs })), timeoutMs);
    child.on('error', error => {
      clearTimeout(timer);
      reject(notStarted(operation, error));
    });
    child.on('close', (status, signal) => {
      clearTimeout(timer);
      if (status === null) reject(failed({ kind: 'signal', signal: signal ?? 'a signal' }));
      else if (!okStatuses.includes(status)) reject(failed({ kind: 'status', status }));
      else resolve({ status, stdout: stdout.text(), stderr: stderr.text() });
    });
    child.stderr.on('error', giveUp).on('data', (chunk: Buffer) => stderr.add(chunk));
    child.stdout.on('error', giveUp).on('data', (chunk: Buffer) => {
      try {
        if (!stdout.add(chunk)) giveUp(failed({ kind: 'too-much-output', limit }));
      } catch (error) {
        giveUp(error);
      }
    });
  });
  if (child.pid !== undefined) options.onStart?.(child.pid);
  return finished;
}

/**
 * Kills the program's group and waits for nobody: a process that left the group may hold the pipes open for ever, and
 * one that is stuck inside the kernel does not die.
 */
function abandon(child: Running): void {
  if (child.pid !== undefined) {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The whole group has ended meanwhile.
    }
  }
  child.stdout.destroy();
  child.stderr.destroy();
  child.unref();
}

function notStarted(operation: string, error: unknown): ProgramError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  const failure: ProgramFailure = code === 'ENOENT' ? { kind: 'missing' } : { kind: 'not-started', errno: code };
  return new ProgramError(operation, failure, '');
}
