import { appendTo } from '../lib/append-to.ts';
import { type Clock, systemClock, type Timer } from '../lib/clock.ts';
import { Turns } from '../lib/turns.ts';
import type { ModelDiff, ServiceState } from '../model/index.ts';
import type { Family } from '../net/index.ts';
import { type EndedEndpoint, endedEndpointKey, endedEndpoints, isStillEnded } from '../plan/index.ts';

export interface EndpointEndsOptions {
  readonly clock?: Clock | undefined;
  /** The Service as the last sync has it. */
  service(family: Family, key: string): ServiceState | undefined;
  /** Ends the connections of these endpoints. Never rejects. */
  end(family: Family, ended: readonly EndedEndpoint[]): Promise<void>;
}

/**
 * Decides when the connections of endpoints that are gone end. An endpoint's time begins when a sync has removed it from
 * the kernel, so no new connection can reach it any more. It does nothing while no Service asks for it.
 */
export class EndpointEnds {
  readonly #options: EndpointEndsOptions;
  readonly #clock: Clock;
  /** Endpoints that the kernel may still have, because no sync has succeeded since. */
  readonly #unsynced: Record<Family, EndedEndpoint[]> = { IPv4: [], IPv6: [] };
  /** Endpoints whose connections may go on for a time, by `endedEndpointKey`. */
  readonly #draining: Record<Family, Map<string, EndedEndpoint>> = { IPv4: new Map(), IPv6: new Map() };
  readonly #timers = new Set<Timer>();
  readonly #turns = new Turns();
  #closed = false;

  constructor(options: EndpointEndsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  changesTaken(family: Family, { services }: ModelDiff): void {
    for (const change of services) {
      for (const ended of endedEndpoints(change)) this.#unsynced[family].push(ended);
    }
  }

  synced(family: Family): void {
    const unsynced = this.#unsynced[family];
    if (unsynced.length === 0 || this.#closed) return;
    this.#unsynced[family] = [];
    const bySeconds = new Map<number, EndedEndpoint[]>();
    for (const ended of unsynced) {
      // An endpoint that came back and is gone again gets its whole time again.
      this.#draining[family].set(endedEndpointKey(ended), ended);
      appendTo(bySeconds, ended.afterSeconds, ended);
    }
    for (const [seconds, ended] of bySeconds) this.#endAfter(seconds, family, ended);
  }

  /** Resolves when no connections are being ended. Endpoints that still have time do not count. */
  async finished(): Promise<void> {
    await this.#turns.done;
  }

  /** Resolves when nothing ends any more. The mode must be open until then. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    await this.finished();
  }

  #endAfter(seconds: number, family: Family, ended: readonly EndedEndpoint[]): void {
    if (seconds === 0) {
      this.#end(family, ended);
      return;
    }
    const timer = this.#clock.setTimer(seconds * 1000, () => {
      this.#timers.delete(timer);
      this.#end(family, ended);
    });
    this.#timers.add(timer);
  }

  #end(family: Family, candidates: readonly EndedEndpoint[]): void {
    const draining = this.#draining[family];
    const latest = candidates.filter(ended => draining.get(endedEndpointKey(ended)) === ended);
    for (const ended of latest) draining.delete(endedEndpointKey(ended));
    const due = latest.filter(ended => isStillEnded(ended, this.#options.service(family, ended.service)));
    if (due.length === 0) return;
    void this.#turns.take(() => this.#options.end(family, due));
  }
}
