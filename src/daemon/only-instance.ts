import { findHolderProcess, InstanceLock, type LockAttempt, type LockHolder } from '../kernel/instance-lock.ts';
import type { RunningProcess } from '../kernel/processes.ts';
import { BackOff } from '../lib/back-off.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { sleep } from '../lib/sleep.ts';
import type { Checks } from '../observe/health/index.ts';
import type { Logger } from '../observe/logging/index.ts';

const NAME = 'pointsman-kube-proxy';
const RETRY_MS = 1000;
const FIRST_LOG_PAUSE_MS = 10_000;
const MAX_LOG_PAUSE_MS = 600_000;

export interface OnlyInstanceOptions {
  readonly log: Logger;
  readonly checks: Checks;
  /** Whether the caller still wants the lock. */
  readonly isWanted: () => boolean;
  readonly take?: () => LockAttempt;
  readonly clock?: Clock;
}

/**
 * Waits until no other proxy of this program runs in this network namespace, because two would undo each other's work.
 * Returns undefined as soon as the caller no longer wants the lock.
 */
export async function becomeOnlyInstance(options: OnlyInstanceOptions): Promise<InstanceLock | undefined> {
  const { log, checks, isWanted, take = () => InstanceLock.take(NAME), clock = systemClock } = options;
  let wait: Wait | undefined;
  checks.add('instance lock', () => wait && { isReady: false, note: waitNote(wait) });
  while (isWanted()) {
    const { lock, holder } = take();
    if (lock) {
      if (wait) log.info('daemon', 'The other Pointsman kube-proxy has ended; this one takes over');
      wait = undefined;
      return lock;
    }
    if (!wait || wait.holder.inode !== holder.inode) wait = new Wait(holder, log, clock);
    wait.log();
    // Two that gave way to each other must not meet again.
    await sleep(RETRY_MS * (0.75 + Math.random() / 2), clock);
  }
  return undefined;
}

/** The wait for one holder. It logs at once, and then at growing intervals. */
class Wait {
  readonly holder: LockHolder;
  readonly process: RunningProcess | undefined;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #start: number;
  readonly #pause: BackOff;
  #nextLog = Number.NEGATIVE_INFINITY;

  constructor(holder: LockHolder, log: Logger, clock: Clock) {
    this.holder = holder;
    this.process = findHolderProcess(holder);
    this.#log = log;
    this.#clock = clock;
    this.#start = clock.elapsed();
    this.#pause = new BackOff({ firstMs: FIRST_LOG_PAUSE_MS, maxMs: MAX_LOG_PAUSE_MS, clock });
  }

  log(): void {
    const now = this.#clock.elapsed();
    if (now < this.#nextLog) return;
    this.#nextLog = now + this.#pause.fail();
    this.#log.error('daemon', 'Another Pointsman kube-proxy runs in this network namespace; waiting until it ends', {
      ...this.process,
      inode: this.holder.inode,
      seconds: Math.round((now - this.#start) / 1000),
    });
  }
}

function waitNote({ holder, process }: Wait): string {
  const wait = 'waiting until it ends';
  if (holder.inode === undefined)
    return `a process that the kernel does not list has the name of the instance lock; ${wait}`;
  const words = process ? `process ${process.pid} (${process.command})` : 'a process that /proc does not show';
  return `${words} is the proxy of this network namespace; ${wait}`;
}
