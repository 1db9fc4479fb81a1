import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const TAIL_LINES = 30;
const POLL_MS = 200;
const STOP_MS = 10_000;

export interface BackgroundOptions {
  /** The path of its log file. */
  readonly log: string;
  readonly cwd?: string;
}

/** A program in the background. It writes to a log file, and ends with this process. */
export class Background {
  readonly name: string;
  readonly #log: string;
  readonly #child: ChildProcess;
  readonly #exit: Promise<void>;
  #hasEnded = false;

  constructor(name: string, command: readonly string[], options: BackgroundOptions) {
    this.name = name;
    this.#log = options.log;
    const fd = openSync(options.log, 'a');
    // With --pdeathsig the kernel kills the program when this process ends in any way.
    this.#child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...command], {
      stdio: ['ignore', fd, fd],
      cwd: options.cwd,
      // A Ctrl-C in the terminal must not reach it: this process ends it in order.
      detached: true,
    });
    closeSync(fd);
    this.#exit = new Promise(resolve => {
      const end = () => {
        this.#hasEnded = true;
        resolve();
      };
      this.#child.once('exit', end);
      this.#child.once('error', end);
    });
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error(`${this.name} did not start`);
    return this.#child.pid;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Waits until `isReady` holds. Throws with the end of the log if the program ends, or if it takes too long. */
  async ready(isReady: () => boolean | Promise<boolean>, timeoutMs = 60_000): Promise<void> {
    const end = Date.now() + timeoutMs;
    while (!(await isReady())) {
      if (this.#hasEnded) throw this.#problem('ended');
      if (Date.now() > end) throw this.#problem(`was not ready after ${timeoutMs / 1000} s`);
      await delay(POLL_MS);
    }
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.#hasEnded) return;
    this.#child.kill(signal);
    const wait = new AbortController();
    await Promise.race([this.#exit, delay(STOP_MS, undefined, { signal: wait.signal }).catch(() => undefined)]);
    wait.abort();
    if (!this.#hasEnded) this.#child.kill('SIGKILL');
    await this.#exit;
  }

  #problem(what: string): Error {
    const tail = readFileSync(this.#log, 'utf8').trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
    return new Error(`${this.name} ${what}. The end of ${this.#log}:\n${tail}`);
  }
}
