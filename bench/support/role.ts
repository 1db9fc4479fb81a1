import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';

/** A process with one role in a bench. It answers one question after another. */
export class Role {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Starts a new process of this program, on one core if it is given. */
  static async start(name: string, core: number | undefined, namespace: NetworkNamespace): Promise<Role> {
    const pinning = core === undefined ? [] : ['taskset', '-c', String(core)];
    const command = [...pinning, process.execPath, '--expose-gc', process.argv[1] ?? '', '--role', name];
    const [program = '', ...args] = command;
    const child = namespace.run(() => spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }));
    const role = new Role(child);
    await once(child, 'message');
    return role;
  }

  async ask<T>(question: unknown): Promise<T> {
    const answer = once(this.#child, 'message');
    this.#child.send({ question });
    const [message] = await answer;
    return message;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  stop(): void {
    this.#child.kill();
  }

  /** Stops the process, also if it is busy, and waits for its end. */
  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }
}

/** In such a process: answers questions until the process is stopped. */
export function answerQuestions(answer: (question: never) => unknown): void {
  process.on('message', async ({ question }: { question: never }) => {
    process.send?.((await answer(question)) ?? null);
  });
  process.send?.('ready');
}

/** The processor time that a process has used, in seconds. */
export function cpuSeconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

export function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}
