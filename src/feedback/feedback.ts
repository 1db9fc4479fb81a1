import { type Change, latestOf } from '../lib/change.ts';
import { type Clock, systemClock, type Timer } from '../lib/clock.ts';
import { NONE } from '../lib/none.ts';
import { DEFAULT_TRAFFIC, type Model, type ServicePort, type ServiceState } from '../model/index.ts';
import { FAMILIES, type Family } from '../net/index.ts';
import { endpointsOf, type LiveEndpoints, planId, samePort } from '../plan/index.ts';
import { WatchedPort } from './watched-port.ts';

export interface FeedbackOptions {
  readonly clock?: Clock | undefined;
  /** The endpoints of a Service have other shares now, so the proxy must plan the Service again. */
  replan(family: Family, service: string): void;
}

/** Shares do not change more often. */
const MIN_PAUSE_MS = 1000;

/**
 * What the proxy learns about endpoints while it runs. It watches only service ports whose Service asks for it. Without
 * such a Service it has no timer and no socket.
 */
export class Feedback {
  readonly #options: FeedbackOptions;
  readonly #clock: Clock;
  readonly #ports: Readonly<Record<Family, Map<string, WatchedPort>>> = { IPv4: new Map(), IPv6: new Map() };
  #timer: Timer | undefined;

  constructor(options: FeedbackOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** What the plans of a family need to know. */
  of(family: Family): LiveEndpoints {
    return { of: id => this.#ports[family].get(id) };
  }

  /** The Services of a model changed. Their plans follow. */
  changed({ family }: Pick<Model, 'family'>, changes: readonly Change<ServiceState>[]): void {
    let isWatching = this.#ports.IPv4.size + this.#ports.IPv6.size > 0;
    for (const change of changes) {
      if (!isWatching && !latestOf(change).ports.some(isWatched)) continue;
      this.#serviceChanged(family, change);
      isWatching = true;
    }
    if (isWatching) this.#schedule();
  }

  close(): void {
    this.#timer?.cancel();
  }

  #serviceChanged(family: Family, change: Change<ServiceState>): void {
    const ports = this.#ports[family];
    const from = change.type === 'added' ? undefined : change.from;
    const to = change.type === 'removed' ? undefined : change.to;
    for (const port of from?.ports ?? NONE) {
      const stays = to?.ports.some(other => samePort(other, port) && isWatched(other));
      if (from && !stays) ports.delete(planId({ service: from.key, port }));
    }
    if (to) for (const port of to.ports.filter(isWatched)) this.#portChanged(family, port, from, to);
  }

  #portChanged(family: Family, port: ServicePort, from: ServiceState | undefined, to: ServiceState): void {
    const id = planId({ service: to.key, port });
    const ports = this.#ports[family];
    const watched = ports.get(id) ?? new WatchedPort(family, to.key, () => this.#clock.elapsed());
    ports.set(id, watched);
    const before = from?.ports.some(other => samePort(other, port)) ? endpointsOf(from, port) : NONE;
    watched.changed(port, before, endpointsOf(to, port));
  }

  *#all(): Generator<WatchedPort> {
    for (const family of FAMILIES) yield* this.#ports[family].values();
  }

  /** Wakes up when a share changes next. */
  #schedule(): void {
    this.#timer?.cancel();
    const now = this.#clock.elapsed();
    const next = Math.min(...Array.from(this.#all(), port => port.nextStep() ?? Number.POSITIVE_INFINITY));
    if (!Number.isFinite(next)) return;
    this.#timer = this.#clock.setTimer(Math.max(MIN_PAUSE_MS, next - now), () => {
      for (const port of this.#all()) if (port.takeStep()) this.#options.replan(port.family, port.service);
      this.#schedule();
    });
  }
}

/** Its Service asks for something that depends on what happens to the endpoints. */
function isWatched({ traffic }: ServicePort): boolean {
  return traffic !== DEFAULT_TRAFFIC && traffic.slowStartSeconds > 0;
}
