import { type Iptables, missingCanaries } from '../../kernel/iptables/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { Repeater } from '../../lib/repeater.ts';
import { Chain } from './names.ts';

export interface UpkeepOptions {
  readonly iptables: Iptables;
  readonly clock: Clock;
  /** What is missing of our rules, in words. */
  missing(): Promise<string | undefined>;
  /** All rules are to be written anew, for the reason given. */
  rewrite(reason: string): Promise<void>;
  noticed(what: string): void;
  failed(error: unknown): void;
}

/** Who flushes tables one after another is waited for, so that our rules are not flushed again. */
const POLL_MS = 100;
const LONGEST_POLL_MS = 5000;
/** Looking costs time: a twentieth of it may go there, or a hundredth where it takes iptables-save. */
const PAUSE_FACTOR = { nf_tables: 20, legacy: 100 } as const;

/**
 * Looks from time to time whether our rules are still there: first for the canary, an empty chain that goes when someone
 * flushes the tables, then for single chains and rules.
 */
export class Upkeep {
  readonly #options: UpkeepOptions;
  readonly #looks: Repeater;
  #closed = false;
  #seen: number | undefined;
  #notBefore = 0;
  /** Why all is to be written anew; kept until that is done. */
  #reason: string | undefined;

  constructor(periodMs: number, options: UpkeepOptions) {
    this.#options = options;
    this.#looks = new Repeater(options.clock, periodMs, () => this.#look().catch(error => options.failed(error)));
  }

  setPeriod(periodMs: number): void {
    this.#looks.setPeriod(periodMs);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#looks.close();
  }

  async #look(): Promise<void> {
    this.#reason ??= await this.#whatHappened();
    if (this.#reason === undefined || this.#closed) return;
    await this.#options.rewrite(this.#reason);
    this.#reason = undefined;
  }

  async #whatHappened(): Promise<string | undefined> {
    const isThere = await this.#options.iptables.chainExists('mangle', Chain.CANARY);
    if (!isThere) {
      await this.#untilFlushed();
      return 'someone flushed the iptables rules';
    }
    const missing = await this.#missing();
    return missing === undefined ? undefined : `someone changed our iptables rules: ${missing}`;
  }

  async #untilFlushed(): Promise<void> {
    const { iptables, clock, noticed } = this.#options;
    const end = clock.elapsed() + LONGEST_POLL_MS;
    while (!this.#closed) {
      const gone = await missingCanaries(iptables, Chain.CANARY, ['nat', 'filter']);
      if (gone.length === 2) return;
      if (clock.elapsed() >= end) {
        noticed('only some of the iptables tables were flushed');
        return;
      }
      await new Promise<void>(resolve => {
        clock.setTimer(POLL_MS, resolve);
      });
    }
  }

  /** Where the kernel says that nothing changed since the last look, there is nothing to look for. */
  async #missing(): Promise<string | undefined> {
    const { iptables, clock, missing } = this.#options;
    const generation = iptables.generation();
    if (clock.elapsed() < this.#notBefore || (generation !== undefined && generation === this.#seen)) return undefined;
    const begun = performance.now();
    const found = await missing();
    this.#seen = generation;
    this.#notBefore = clock.elapsed() + PAUSE_FACTOR[iptables.backend] * (performance.now() - begun);
    return found;
  }
}
