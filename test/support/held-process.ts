import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

/** Another process that holds something, prints a line when it has it, and lives until its input ends. */
export class HeldProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;

  private constructor(child: ChildProcessByStdio<Writable, Readable, null>) {
    this.#child = child;
  }

  static async of(child: ChildProcessByStdio<Writable, Readable, null>): Promise<HeldProcess> {
    await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(([status]) => Promise.reject(new Error(`the holder ended with status ${status}`))),
    ]);
    return new HeldProcess(child);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  async close(): Promise<void> {
    const hasEnded = this.#child.exitCode !== null || this.#child.signalCode !== null;
    const ended = hasEnded ? undefined : once(this.#child, 'exit');
    this.#child.stdin.end();
    await ended;
  }
}
