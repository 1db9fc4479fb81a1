import { encodeProgrammedLease, leaseName, leasePath, type ProgrammedLease } from '../api/index.ts';
import { type ApiClient, errorFromResponse } from '../client/index.ts';
import { BackOff } from '../lib/back-off.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { errorText } from '../lib/error-text.ts';
import { Repeater } from '../lib/repeater.ts';
import { type SetAside, setAsideService } from '../modes/index.ts';
import type { ProgrammedState } from '../proxy/index.ts';

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
  readonly #closing = new AbortController();
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
    this.#closing.abort();
    await this.#repeater.close();
  }

  async #look(): Promise<void> {
    const now = this.#clock.elapsed();
    if (now < this.#notBefore || this.#closing.signal.aborted) return;
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
    const { node, namespace, bootId, nodeUid } = this.#options;
    const lease: ProgrammedLease = {
      node,
      ...programmed,
      setAside,
      setAsideCount: setAside.length,
      bootId,
      renewedAt: this.#clock.now(),
      durationSeconds: DURATION_SECONDS,
    };
    await this.#send(encodeProgrammedLease(lease, namespace, nodeUid()));
  }

  /** A patch is the usual case. Only the first one finds no Lease. */
  async #send(lease: object): Promise<void> {
    const { namespace, node } = this.#options;
    const collection = leasePath(namespace);
    const text = JSON.stringify(lease);
    const patch = { method: 'PATCH', contentType: 'application/merge-patch+json' } as const;
    if (await this.#request({ ...patch, path: `${collection}/${leaseName(node)}`, text })) return;
    const whole = JSON.stringify(lease, (_, value) => value ?? undefined);
    await this.#request({ method: 'POST', contentType: 'application/json', path: collection, text: whole });
  }

  /** Returns false if there is no object to patch. */
  async #request(request: {
    readonly method: 'PATCH' | 'POST';
    readonly contentType: string;
    readonly path: string;
    readonly text: string;
  }): Promise<boolean> {
    const { method, contentType, path, text } = request;
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
    const accept = 'application/json';
    const body = Buffer.from(text);
    const response = await this.#options.client.request({ method, path, accept, contentType, body, signal });
    if (response.status === 404 && method === 'PATCH') {
      await errorFromResponse(response);
      return false;
    }
    if (response.status < 200 || response.status > 299) throw await errorFromResponse(response);
    for await (const _ of response.body);
    return true;
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
    if (this.#closing.signal.aborted) return;
    this.#notBefore = this.#clock.elapsed() + this.#backOff.fail();
    if (error === this.#failure) return;
    this.#failure = error;
    this.#options.onFailure(error);
  }
}
