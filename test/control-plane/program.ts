import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';

const TAIL_LINES = 30;
const POLL_MS = 10;

export interface ProgramOptions {
  readonly namespace: NetworkNamespace;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

export interface ProgramExit {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A running program in a network namespace, and the lines that it wrote to its standard error. */
export class Program {
  readonly name: string;
  readonly lines: string[] = [];
  /** Resolves when the program has ended and all its lines are here. */
  readonly exit: Promise<ProgramExit>;
  readonly #child: ChildProcess;
  #ended: ProgramExit | undefined;

  constructor(name: string, command: readonly string[], { namespace, env = {} }: ProgramOptions) {
    this.name = name;
    // With --pdeathsig the kernel kills the program when this process ends in any way. setpriv executes the program in
    // its own process, so the process id stays the same.
    const args = ['--pdeathsig', 'KILL', '--', ...command];
    this.#child = namespace.run(() =>
      spawn('setpriv', args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...env } }),
    );
    this.#collectLines();
    this.exit = new Promise(resolve => {
      const end = (exit: ProgramExit) => {
        this.#ended = exit;
        resolve(exit);
      };
      this.#child.once('close', (status, signal) => end({ status, signal }));
      this.#child.once('error', error => {
        this.lines.push(error.message);
        end({ status: null, signal: null });
      });
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /**
   * Waits for a line that contains the text or matches the pattern. Returns the number of the next line. To wait for
   * another such line, pass it as `from`.
   */
  async until(wanted: string | RegExp, { from = 0, timeoutMs = 60_000 } = {}): Promise<number> {
    const matches = (line: string) => (typeof wanted === 'string' ? line.includes(wanted) : wanted.test(line));
    const found = () => this.lines.findIndex((line, index) => index >= from && matches(line));
    await this.waitFor(`write ${JSON.stringify(String(wanted))}`, () => found() >= 0, timeoutMs);
    return found() + 1;
  }

  /**
   * Calls `isDone` again and again until it returns true. An error of `isDone` counts as false. Rejects with the last
   * lines of the log if the program ends first or the time is over.
   */
  async waitFor(
    what: string,
    isDone: () => boolean | Promise<boolean>,
    timeoutMs: number,
    pollMs = POLL_MS,
  ): Promise<void> {
    const end = performance.now() + timeoutMs;
    let failure = '';
    for (;;) {
      const ended = this.#ended;
      try {
        if (await isDone()) return;
        failure = '';
      } catch (error) {
        failure = ` (${error instanceof Error ? error.message : error})`;
      }
      if (ended) throw this.#error(`ended, ${exitText(ended)}, and did not ${what}`);
      if (performance.now() > end) throw this.#error(`did not ${what} within ${timeoutMs / 1000} s${failure}`);
      await delay(pollMs);
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves when every thread has stopped. Threads that run on another processor stop only some time after the signal. */
  async pause(timeoutMs = 20_000): Promise<void> {
    this.#child.kill('SIGSTOP');
    await this.waitFor('stop all its threads', () => this.#threadStates().every(state => state === 'T'), timeoutMs);
  }

  /** One letter for each thread, as in /proc/PID/stat: `R` runs, `S` sleeps, `T` is stopped. */
  #threadStates(): readonly string[] {
    const folder = `/proc/${this.pid}/task`;
    return readdirSync(folder).map(thread => {
      const stat = readFileSync(`${folder}/${thread}/stat`, 'latin1');
      return stat.charAt(stat.lastIndexOf(')') + 2);
    });
  }

  /** Sends the signal. Kills the program if it has not ended after the timeout. */
  async stop(signal: NodeJS.Signals = 'SIGTERM', timeoutMs = 20_000): Promise<ProgramExit> {
    this.#child.kill(signal);
    // A paused program handles no signal except SIGKILL until it continues.
    this.#child.kill('SIGCONT');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), timeoutMs);
    try {
      return await this.exit;
    } finally {
      clearTimeout(timer);
    }
  }

  #error(words: string): Error {
    return new Error(`${this.name} ${words}. Its last lines:\n${this.lines.slice(-TAIL_LINES).join('\n')}`);
  }

  #collectLines(): void {
    let rest = '';
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      this.lines.push(...lines);
    });
    this.#child.stderr?.on('end', () => {
      if (rest) this.lines.push(rest);
    });
  }
}

function exitText({ status, signal }: ProgramExit): string {
  return signal === null ? `status ${status}` : signal;
}
