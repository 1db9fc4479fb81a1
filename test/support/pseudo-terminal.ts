import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { waitFor } from './wait-for.ts';

const BEGIN_PICTURE = '\x1b[?2026h';
const END_PICTURE = '\x1b[?2026l';

export interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
}

/** A command on a real pseudo-terminal, which the program `script` of util-linux makes. */
export class PseudoTerminal {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<number>;
  readonly #timeoutMs: number;
  #output = '';

  constructor(command: string, { columns = 80, rows = 24, env = {}, timeoutMs = 20_000 }: TerminalOptions = {}) {
    this.#timeoutMs = timeoutMs;
    const sized = `stty cols ${columns} rows ${rows}; exec ${command}`;
    const { NO_COLOR: _, ...inherited } = process.env;
    this.#child = spawn('script', ['--quiet', '--return', '--flush', '--command', sized, '/dev/null'], {
      env: { ...inherited, TERM: 'xterm', SHELL: '/bin/sh', ...env },
    });
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
    });
    this.#child.stdin.on('error', () => undefined);
    this.#ended = once(this.#child, 'exit').then(([status]) => status ?? 1);
  }

  /** Everything that the command has written, with its control codes. */
  get output(): string {
    return this.#output;
  }

  /** The lines of the last complete picture. A program marks where a picture begins and ends. */
  get picture(): readonly string[] {
    const end = this.#output.lastIndexOf(END_PICTURE);
    const begin = this.#output.lastIndexOf(BEGIN_PICTURE, end);
    return begin < 0 ? [] : stripVTControlCharacters(this.#output.slice(begin, end)).split(/\r*\n/);
  }

  type(text: string): void {
    this.#child.stdin.write(text);
  }

  async until(what: string, isReached: (terminal: this) => boolean): Promise<void> {
    try {
      await waitFor(what, () => isReached(this), { timeoutMs: this.#timeoutMs });
    } catch (error) {
      throw new Error(`${what}: not reached. The terminal shows:\n${this.#output.slice(-4000)}`, { cause: error });
    }
  }

  /** Resolves with the exit status of the command. */
  ended(): Promise<number> {
    return this.#ended;
  }

  /** Ends the command if it still runs. */
  async close(): Promise<void> {
    if (this.#child.exitCode === null) this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
