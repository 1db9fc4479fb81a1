import { encodeProgrammedLease, type ProgrammedLease } from '../api/index.ts';
import type { ApiClient } from '../client/index.ts';
import { BackOff } from '../lib/back-off.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { errorText } from '../lib/error-text.ts';
import { Repeater } from '../lib/repeater.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { type SetAside, setAsideService } from '../modes/index.ts';
import type { ProgrammedState } from '../proxy/index.ts';
import { writeLease } from './write-lease.ts';

/** How the operator wants the report. */
export interface ProgrammedReportSettings {
  readonly namespace: string;
  /** The least time between two writes. */
  readonly intervalMs: number;
}

export interface ProgrammedReportOptions extends ProgrammedReportSettings {
  readonly client: ApiClient;
  readonly node: string;
  /** The uid of the Node. The garbage collector deletes the Lease of a Node that is gone. */
  readonly nodeUid: () => string | undefined;
  readonly bootId: string | undefined;
  readonly state: () => ProgrammedState;
  readonly setAside: () => readonly SetAside[];
  /** A write failed for another reason than the one before. */
  readonly onFailure: (error: string) => void;
  /** A write succeeded after a failure. */
  readonly onRecovery: () => void;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

/**
 * How often the report looks for news. A look costs nothing. The proxies of a cluster look at different moments, so that
 * they do not write all at once.
 */
const LOOK_MS = 1000;
/** Without news, the Lease is renewed this often. */
const RENEW_MS = 60_000;
const DURATION_SECONDS = 180;
const REQUEST_TIMEOUT_MS = 15_000;
const MAX_BACK_OFF_MS = 300_000;

interface Written {
  readonly changes: number;
  readonly setAside: string;
  readonly at: number;
}

/** Keeps the Lease that says what this node has programmed. Nothing waits for it. */
export class ProgrammedReport {
  readonly #options: ProgrammedReportOptions;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #repeater: Repeater;
  readonly #backOff: BackOff;
  /** Aborts the request that runs. */
  #request: AbortController | undefined;
  #closed = false;
  /** What the last write said. Undefined before the first. */
  #written: Written | undefined;
  #notBefore = Number.NEGATIVE_INFINITY;
  #failure: string | undefined;

  constructor(options: ProgrammedReportOptions) {
    const { clock = systemClock, random = Math.random, intervalMs } = options;
    this.#options = options;
    this.#clock = clock;
    this.#random = random;
    const firstMs = Math.max(intervalMs, LOOK_MS);
    this.#backOff = new BackOff({ firstMs, maxMs: Math.max(firstMs, MAX_BACK_OFF_MS), random, clock });
    this.#repeater = new Repeater(clock, LOOK_MS, () => this.#look());
  }

  /** Why the last write failed. Undefined if it succeeded. */
  get failure(): string | undefined {
    return this.#failure;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#request?.abort();
    await this.#repeater.close();
  }

  async #look(): Promise<void> {
    const now = this.#clock.elapsed();
    if (now < this.#notBefore) return;
    const state = this.#options.state();
    const isProgrammed = state.programmed.services !== undefined && state.programmed.endpointSlices !== undefined;
    const aside = [...new Set(this.#options.setAside().map(setAsideService))].sort();
    const next: Written = { changes: state.changes, setAside: aside.join(), at: now };
    if (!isProgrammed || !this.#isDue(next)) return;
    try {
      await this.#write(state, aside);
      this.#succeeded(next);
    } catch (error) {
      this.#failed(errorText(error));
    }
  }

  #isDue({ changes, setAside, at }: Written): boolean {
    const last = this.#written;
    return !last || changes !== last.changes || setAside !== last.setAside || at - last.at >= RENEW_MS;
  }

  async #write({ programmed }: ProgrammedState, setAside: readonly string[]): Promise<void> {
    const { client, node, namespace, bootId, nodeUid } = this.#options;
    const lease: ProgrammedLease = {
      node,
      ...programmed,
      setAside,
      setAsideCount: setAside.length,
      bootId,
      renewedAt: this.#clock.now(),
      durationSeconds: DURATION_SECONDS,
    };
    const encoded = encodeProgrammedLease(lease, namespace, nodeUid());
    const request = new AbortController();
    this.#request = request;
    try {
      const written = writeLease(client, { namespace, node, lease: encoded }, request.signal);
      await withTimeout(written, REQUEST_TIMEOUT_MS, this.#clock);
    } finally {
      request.abort();
      this.#request = undefined;
    }
  }

  #succeeded(written: Written): void {
    const { intervalMs, onRecovery } = this.#options;
    this.#written = written;
    this.#notBefore = written.at + intervalMs * (1 + 0.2 * this.#random());
    this.#backOff.reset();
    if (this.#failure === undefined) return;
    this.#failure = undefined;
    onRecovery();
  }

  #failed(error: string): void {
    if (this.#closed) return;
    this.#notBefore = this.#clock.elapsed() + this.#backOff.fail();
    if (error === this.#failure) return;
    this.#failure = error;
    this.#options.onFailure(error);
  }
}
