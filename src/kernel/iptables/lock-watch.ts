import { findLockHolder, type LockHolder } from './lock-holder.ts';

const CHECK_INTERVAL_MS = 50;

/** A program had to wait for the xtables lock. */
export interface LockWait {
  /** Accurate to 50 ms, the time between two checks. */
  readonly waitedMs: number;
  /** The last process that was seen with the lock. Undefined if it is not visible from our PID namespace. */
  readonly holder: LockHolder | undefined;
}

/**
 * Checks every 50 ms which process holds the lock while a program runs. The program itself does not report it, and
 * after its end it is too late to find out. The checks stop as soon as the program has the lock.
 */
export class LockWatch {
  readonly #path: string;
  readonly #begun = performance.now();
  readonly #timer: NodeJS.Timeout;
  #wait: LockWait | undefined;

  constructor(path: string, ownPid: number) {
    this.#path = path;
    this.#timer = setInterval(() => this.#check(ownPid), CHECK_INTERVAL_MS);
    this.#timer.unref();
  }

  /** Ends the checks. `gaveUp`: the program failed because it did not get the lock. */
  stop(gaveUp: boolean): LockWait | undefined {
    clearInterval(this.#timer);
    if (!gaveUp) return this.#wait;
    const holder = this.#wait?.holder ?? findLockHolder(this.#path);
    return { waitedMs: this.#elapsed(), holder };
  }

  #check(ownPid: number): void {
    const holder = findLockHolder(this.#path);
    if (holder?.pid === ownPid) clearInterval(this.#timer);
    else if (holder) this.#wait = { waitedMs: this.#elapsed(), holder };
  }

  #elapsed(): number {
    return Math.round(performance.now() - this.#begun);
  }
}

export function lockWaitText({ waitedMs, holder }: LockWait): string {
  const holderText = holder
    ? `held by ${holder.command} (pid ${holder.pid})`
    : 'held by a process that is not visible from here';
  return `waited ${waitedMs / 1000} s for the xtables lock, ${holderText}`;
}
