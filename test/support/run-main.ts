import { Readable } from 'node:stream';
import type { Input } from '../../src/cli/command.ts';
import { main } from '../../src/cli/main.ts';

export interface MainResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

type Runners = Parameters<typeof main>[2];

interface MainOptions {
  readonly stdin?: string | undefined;
  /** What the output is beside a stream of texts: a terminal, with a width. */
  readonly terminal?: { readonly isTTY?: boolean; readonly columns?: number };
  readonly env?: NodeJS.ProcessEnv;
  readonly runners?: Runners;
}

/** Runs a command line in this process, and collects what it prints. */
export async function runMain(args: readonly string[], options: MainOptions = {}): Promise<MainResult> {
  const { stdin, terminal = {}, env = {}, runners } = options;
  const out: string[] = [];
  const err: string[] = [];
  const io = {
    ...(stdin === undefined ? {} : { stdin: Readable.from([Buffer.from(stdin)]) as unknown as Input }),
    stdout: { write: (text: string) => out.push(text), ...terminal },
    stderr: { write: (text: string) => err.push(text) },
    env,
  };
  const status = await main(args, io, runners);
  return { status, stdout: out.join(''), stderr: err.join('') };
}
