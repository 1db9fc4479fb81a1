import { execFile, spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const MAX_OUTPUT_BYTES = 64 << 20;
const POLL_MS = 500;

export interface RunOptions {
  readonly input?: string;
  readonly cwd?: string;
}

/** Runs a program to its end, and returns what it printed. Throws if it fails. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: MAX_OUTPUT_BYTES,
    ...options,
  });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? (stderr || stdout)}`);
  return stdout;
}

/** The same, while other work goes on. */
export async function runBeside(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { maxBuffer: MAX_OUTPUT_BYTES });
  return stdout;
}

/** Waits until `isTrue` returns true without an error. */
export async function waitUntil(what: string, isTrue: () => boolean, timeoutMs = 120_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    let problem = '';
    try {
      if (isTrue()) return;
    } catch (error) {
      problem = `: ${(error as Error).message}`;
    }
    if (Date.now() > end) throw new Error(`${what}: not after ${timeoutMs / 1000} s${problem}`);
    await delay(POLL_MS);
  }
}
