import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { errorCode } from '../../lib/error-code.ts';
import { KernelError } from '../errors.ts';
import type { NetworkNamespace } from '../netns.ts';
import { commandLine } from './command-line.ts';
import { environment } from './environment.ts';
import { InputFile, type ProgramInput } from './input-file.ts';
import { Output, Tail } from './output.ts';
import { ProgramError, type ProgramFailure } from './program-error.ts';

const MAX_OUTPUT = 256 << 20;

export interface ProgramOptions {
  /** How long the program may take. After that it is killed, with all processes that it started. */
  readonly timeoutMs: number;
  /** The caller must close an `InputFile`. Without input the program reads /dev/null. */
  readonly input?: ProgramInput | InputFile | undefined;
  readonly namespace?: NetworkNamespace | undefined;
  /** Variables besides PATH and LC_ALL, which every program receives. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The exit statuses that are no failures. By default only 0. */
  readonly okStatuses?: readonly number[] | undefined;
  /** Receives the standard output as it arrives. The result then has no output. */
  readonly onStdout?: ((chunk: Uint8Array) => void) | undefined;
  readonly maxOutputBytes?: number | undefined;
  readonly onStart?: ((pid: number) => void) | undefined;
}

export interface ProgramResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. Throws a `ProgramError` unless the exit status is one of `okStatuses`. */
export async function runProgram(
  name: string,
  args: readonly string[],
  options: ProgramOptions,
): Promise<ProgramResult> {
  const operation = commandLine(name, args);
  const { input } = options;
  const isCallers = input === undefined || input instanceof InputFile;
  const file = isCallers ? input : InputFile.create(input);
  try {
    return await supervise(start(operation, name, args, file, options), operation, options);
  } finally {
    if (!isCallers) file?.close();
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
  // The program has its own process group (`detached`). So we can kill the whole group, and a Ctrl-C in the terminal
  // does not interrupt the program.
  const spawnChild = () =>
    spawn(name, args, { stdio: [input?.fd ?? 'ignore', 'pipe', 'pipe'], env: environment(env), detached: true });
  let child: ChildProcess;
  try {
    // A child process starts in the network namespace of the thread that forks it.
    child = namespace ? namespace.run(spawnChild) : spawnChild();
  } catch (error) {
    throw error instanceof KernelError ? error : notStartedError(operation, error);
  }
  if (isRunning(child)) return child;
  // Without free descriptors Node makes no pipes and emits an error event. Without a listener it would end the process.
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
      killGroup(child);
      reject(error);
    };
    const timer = setTimeout(() => giveUp(failed({ kind: 'timed-out', timeoutMs })), timeoutMs);
    child.on('error', error => {
      clearTimeout(timer);
      reject(notStartedError(operation, error));
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
 * Kills the program's process group and does not wait for its end: a process that left the group may keep the pipes
 * open forever, and a process that is stuck inside the kernel does not die.
 */
function killGroup(child: Running): void {
  if (child.pid !== undefined) {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The whole group has already ended.
    }
  }
  child.stdout.destroy();
  child.stderr.destroy();
  child.unref();
}

function notStartedError(operation: string, error: unknown): ProgramError {
  const code = errorCode(error) ?? 'unknown';
  const failure: ProgramFailure = code === 'ENOENT' ? { kind: 'missing' } : { kind: 'not-started', errno: code };
  return new ProgramError(operation, failure, '');
}
