import { setTimeout as sleep } from 'node:timers/promises';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { answerQuestions, Role } from '../support/role.ts';
import { connects, openServer, type SocketAddress } from '../support/socket-load.ts';
import { sharedMs } from './running-proxy.ts';

/** The role of the processes below. */
export const CONNECTOR = 'connector';

type Question =
  | { readonly kind: 'serve'; readonly address: SocketAddress }
  | { readonly kind: 'until all connect'; readonly addresses: readonly SocketAddress[]; readonly pauseMs: number }
  | { readonly kind: 'until refused'; readonly address: SocketAddress }
  | { readonly kind: 'failures'; readonly addresses: readonly SocketAddress[] }
  | { readonly kind: 'watch'; readonly address: SocketAddress }
  | { readonly kind: 'watched' };

/** What a watched Service answered. */
export interface Watched {
  readonly count: number;
  readonly failures: number;
}

const TIMEOUT_MS = 600_000;
/** How often connections are tried while a proxy starts. More would take its processor away. */
export const START_PAUSE_MS = 5;
/** How often connections are tried after a change. It is the resolution of the latency. */
export const CHANGE_PAUSE_MS = 0.2;
const CHANGE_LATE_MS = 2;
const WATCH_PAUSE_MS = 5;

/** A process that connects to Services from the node, or one that takes all connections to pods. */
export class Connector {
  readonly #role: Role;

  private constructor(role: Role) {
    this.#role = role;
  }

  static async start(namespace: NetworkNamespace): Promise<Connector> {
    return new Connector(await Role.start(CONNECTOR, undefined, namespace));
  }

  serve(address: SocketAddress): Promise<void> {
    return this.#ask({ kind: 'serve', address });
  }

  /** Tries again and again. Returns when the last of them connected first, as `sharedMs`. */
  untilAllConnect(addresses: readonly SocketAddress[], pauseMs: number): Promise<number> {
    return this.#ask({ kind: 'until all connect', addresses, pauseMs });
  }

  untilRefused(address: SocketAddress): Promise<number> {
    return this.#ask({ kind: 'until refused', address });
  }

  /** Tries each address once. Returns how many did not connect. */
  failures(addresses: readonly SocketAddress[]): Promise<number> {
    return this.#ask({ kind: 'failures', addresses });
  }

  /** Connects again and again until `watched`. */
  watch(address: SocketAddress): Promise<void> {
    return this.#ask({ kind: 'watch', address });
  }

  watched(): Promise<Watched> {
    return this.#ask({ kind: 'watched' });
  }

  end(): Promise<void> {
    return this.#role.end();
  }

  async #ask<T>(question: Question): Promise<T> {
    const answer = await this.#role.ask<T | { readonly error: string }>(question);
    if (typeof answer === 'object' && answer !== null && 'error' in answer) throw new Error(answer.error);
    return answer as T;
  }
}

/** In the process. */
export function playConnector(): void {
  answerQuestions(async (question: Question) => {
    try {
      return await answerTo(question);
    } catch (error) {
      return { error: String(error) };
    }
  });
}

async function answerTo(question: Question): Promise<unknown> {
  switch (question.kind) {
    case 'serve':
      // The answer to this question goes out first.
      setTimeout(openServer({ ...question.address, closesAtOnce: true }), 50);
      return undefined;
    case 'until all connect':
      return untilAllConnect(question.addresses, question.pauseMs);
    case 'until refused':
      return repeatUntil(() => !connects(question.address), CHANGE_PAUSE_MS);
    case 'failures':
      return question.addresses.filter(address => !connects(address)).length;
    case 'watch':
      watching = watch(question.address);
      return undefined;
    case 'watched':
      return watching?.end();
  }
}

/** Blocks until each address has connected once. Returns when that was, as `sharedMs`. */
export function untilAllConnect(addresses: readonly SocketAddress[], pauseMs: number): number {
  let missing = addresses;
  // An attempt that gets no answer must not hide the moment of the change.
  const lateMs = pauseMs < START_PAUSE_MS ? CHANGE_LATE_MS : undefined;
  return repeatUntil(() => {
    // The first that fails ends the attempt: a start programs all Services together, or in their order.
    const at = missing.findIndex(address => !connects(address, lateMs));
    missing = at < 0 ? [] : missing.slice(at);
    return missing.length === 0;
  }, pauseMs);
}

/** Blocks this process, which has nothing else to do. A timer of Node would be less exact. */
function repeatUntil(isDone: () => boolean, pauseMs: number): number {
  const end = sharedMs() + TIMEOUT_MS;
  const parent = process.ppid;
  const cell = new Int32Array(new SharedArrayBuffer(4));
  while (!isDone()) {
    if (sharedMs() > end) throw new Error(`it did not happen within ${TIMEOUT_MS / 1000} s`);
    // The bench was killed.
    if (process.ppid !== parent) process.exit(1);
    Atomics.wait(cell, 0, 0, pauseMs);
  }
  return sharedMs();
}

let watching: { end(): Promise<Watched> } | undefined;

function watch(address: SocketAddress): { end(): Promise<Watched> } {
  let [count, failures, isRunning] = [0, 0, true];
  const run = async () => {
    while (isRunning) {
      count += 1;
      if (!connects(address)) failures += 1;
      await sleep(WATCH_PAUSE_MS);
    }
  };
  const done = run();
  return {
    async end() {
      isRunning = false;
      await done;
      return { count, failures };
    },
  };
}
