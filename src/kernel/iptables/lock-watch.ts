import { findLockHolder, type LockHolder } from './lock-holder.ts';

const LOOK_EVERY_MS = 50;

/** That a program had to wait for the xtables lock. */
export interface LockWait {
  /** Give or take the time between two looks, 50 ms. */
  readonly waitedMs: number;
  /** The last one that was seen with the lock; undefined if it is not visible from here. */
  readonly holder: LockHolder | undefined;
}

/**
 * Looks from time to time who has the lock while a program runs, for the program does not say, and afterwards it is too
 * late to see. Looking ends as soon as the program has the lock itself.
 */
export class LockWatch {
  readonly #path: string;
  readonly #begun = performance.now();
  readonly #timer: NodeJS.Timeout;
  #wait: LockWait | undefined;

  constructor(path: string, ownPid: number) {
    this.#path = path;
    this.#timer = setInterval(() => this.#look(ownPid), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /** Ends the looking. `refused` says that the program gave up for want of the lock. */
  stop(refused: boolean): LockWait | undefined {
    clearInterval(this.#timer);
    if (!refused) return this.#wait;
    const holder = this.#wait?.holder ?? findLockHolder(this.#path);
    return { waitedMs: this.#elapsed(), holder };
  }

  #look(ownPid: number): void {
    const holder = findLockHolder(this.#path);
    if (holder?.pid === ownPid) clearInterval(this.#timer);
    else if (holder) this.#wait = { waitedMs: this.#elapsed(), holder };
  }

  #elapsed(): number {
    return Math.round(performance.now() - this.#begun);
  }
}

export function lockWaitText({ waitedMs, holder }: LockWait): string {
  const who = holder
    ? `held by ${holder.command} (pid ${holder.pid})`
    : 'held by a process that is not visible from here';
  return `waited ${waitedMs / 1000} s for the xtables lock, ${who}`;
}
