import { type Iptables, missingCanaries } from '../../kernel/iptables/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { sleep } from '../../lib/sleep.ts';
import { Chain } from './names.ts';

export interface DriftFinderOptions {
  readonly iptables: Iptables;
  readonly clock: Clock;
  /** The missing rules, as text. */
  missing(): Promise<string | undefined>;
  notice(message: string): void;
}

/** A program that flushes tables one after another gets this much time, so that it does not flush a repair too. */
const MAX_FLUSH_MS = 5000;
const POLL_MS = 100;
/** The search for missing rules takes at most a twentieth of the time, or a hundredth if it needs iptables-save. */
const PAUSE_PER_SEARCH = { nf_tables: 20, legacy: 100 } as const;

/**
 * Finds out whether another program changed our rules. It first looks for the canary, an empty chain that is gone if a
 * program flushed the tables, and then for single chains and rules.
 */
export class DriftFinder {
  readonly #options: DriftFinderOptions;
  #closed = false;
  /** The generation of the ruleset at the last search. */
  #searchedGeneration: number | undefined;
  #notBefore = 0;

  constructor(options: DriftFinderOptions) {
    this.#options = options;
  }

  close(): void {
    this.#closed = true;
  }

  /** What another program did, as text. */
  async find(): Promise<string | undefined> {
    if (!(await this.#options.iptables.chainExists('mangle', Chain.CANARY))) {
      await this.#waitForFlush();
      return 'another program flushed the iptables rules';
    }
    const missing = await this.#missing();
    return missing === undefined ? undefined : `another program changed our iptables rules: ${missing}`;
  }

  async #waitForFlush(): Promise<void> {
    const { iptables, clock, notice } = this.#options;
    const end = clock.elapsed() + MAX_FLUSH_MS;
    while (!this.#closed) {
      const gone = await missingCanaries(iptables, Chain.CANARY, ['nat', 'filter']);
      if (gone.length === 2) return;
      if (clock.elapsed() >= end) {
        notice('Another program flushed only some of the iptables tables');
        return;
      }
      await sleep(POLL_MS, clock);
    }
  }

  /** If the kernel says that nothing changed since the last search, there is nothing to search for. */
  async #missing(): Promise<string | undefined> {
    const { iptables, clock, missing } = this.#options;
    const generation = iptables.generation();
    const isUnchanged = generation !== undefined && generation === this.#searchedGeneration;
    if (clock.elapsed() < this.#notBefore || isUnchanged) return undefined;
    const start = performance.now();
    const found = await missing();
    this.#searchedGeneration = generation;
    this.#notBefore = clock.elapsed() + PAUSE_PER_SEARCH[iptables.backend] * (performance.now() - start);
    return found;
  }
}
