import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { setOomScore } from '../kernel/oom-score.ts';
import { releaseMemory } from '../kernel/release-memory.ts';
import { type Clock, systemClock, type Timer } from '../lib/clock.ts';
import { errorText } from '../lib/error-text.ts';
import type { Family } from '../net/index.ts';
import type { Logger } from '../observe/logging/index.ts';

/** Lowering the score needs CAP_SYS_RESOURCE. Without it the proxy still works. */
export function setOwnOomScore(score: number | undefined, log: Logger): void {
  if (score === undefined) return;
  try {
    setOomScore(score);
  } catch (error) {
    log.v(2, 'server', 'Failed to apply OOMScore', { err: errorText(error) });
  }
}

/** The first changes after the start must not wait for a garbage collection. */
const DELAY_MS = 500;
/** The first collection frees dead objects. Only the second moves the others together, so that pages become empty. */
const COLLECTIONS = 2;

interface ReleaseSteps {
  /** Collects garbage. */
  collect(): void;
  /** Returns unused memory to the kernel. */
  release(): void;
}

const RELEASE_STEPS: ReleaseSteps = { collect: collectGarbage, release: tryToReleaseMemory };

/**
 * Returns the memory that only the start needed, once all families are synced. At the start all objects come at once.
 * V8 would keep that garbage until the heap grows again, and in a quiet cluster it never does.
 */
export class StartMemoryRelease {
  readonly #missing: Set<Family>;
  readonly #clock: Clock;
  readonly #steps: ReleaseSteps;
  #timer: Timer | undefined;

  constructor(families: readonly Family[], clock: Clock = systemClock, steps: ReleaseSteps = RELEASE_STEPS) {
    this.#missing = new Set(families);
    this.#clock = clock;
    this.#steps = steps;
  }

  synced(family: Family): void {
    if (!this.#missing.delete(family) || this.#missing.size > 0) return;
    this.#schedule(COLLECTIONS);
  }

  close(): void {
    this.#timer?.cancel();
  }

  #schedule(collections: number): void {
    this.#timer = this.#clock.setTimer(DELAY_MS, () => {
      this.#steps.collect();
      if (collections > 1) this.#schedule(collections - 1);
      else this.#steps.release();
    });
  }
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
}

/** The proxy works without this: /proc may be hidden. */
function tryToReleaseMemory(): void {
  try {
    releaseMemory();
  } catch {}
}
