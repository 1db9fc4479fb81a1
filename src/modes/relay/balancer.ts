import type { TrafficPolicy } from '../../api/index.ts';
import { encodeSocketAddress } from '../../kernel/sockets/index.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Algorithm, Endpoint } from '../../model/index.ts';
import type { ChosenEndpoints } from '../../plan/index.ts';
import type { PinnedClient } from '../read-back.ts';
import { Affinity } from './affinity.ts';
import { clientIp } from './client-address.ts';

/** An endpoint of a service port, and what connections to it have shown. */
export interface Backend {
  readonly text: string;
  /** As a sockaddr. */
  readonly address: Buffer;
  /** Open connections from this node. */
  active: number;
  /** Connections so far, and the bytes that they carried in both directions. */
  connections: number;
  bytes: number;
  /** Until then the balancer prefers others, because the endpoint took no connection. 0 if it does. */
  ejectedUntil: number;
  /** How often in a row it did not answer in time. */
  timeouts: number;
  /** It left the plan. Its connections go on. */
  isGone: boolean;
}

const EJECTION_MS = 5000;
/** A busy machine may be late once. */
const TIMEOUTS_TO_EJECT = 2;

export interface BalancerOptions {
  readonly clock: Clock;
  /** From 0 to 1, as Math.random. */
  readonly random?: () => number;
}

/** Earlier attempts for the same connection. */
export interface FailedAttempts {
  /** The balancer does not choose these again. */
  readonly refused: ReadonlySet<Backend>;
}

interface Ring {
  backends: readonly Backend[];
  next: number;
}

/** Chooses endpoints of one service port, for the traffic of each policy. */
export class Balancer {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #affinity: Affinity<Backend>;
  readonly #backends = new Map<string, Backend>();
  readonly #rings: Readonly<Record<TrafficPolicy, Ring>> = {
    Cluster: { backends: [], next: 0 },
    Local: { backends: [], next: 0 },
  };
  #algorithm: Algorithm | undefined;

  constructor({ clock, random = Math.random }: BalancerOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#affinity = new Affinity(clock);
  }

  get hasAffinity(): boolean {
    return this.#affinity.isOn;
  }

  configure(algorithm: Algorithm | undefined, affinitySeconds: number): void {
    this.#algorithm = algorithm;
    this.#affinity.configure(affinitySeconds);
  }

  /** Takes the endpoints of a plan. Returns those that left it. */
  setEndpoints({ cluster, local }: Pick<ChosenEndpoints, 'cluster' | 'local'>): readonly Backend[] {
    const wanted = new Map([...cluster, ...local].map(endpoint => [endpoint.text, endpoint]));
    const gone = [...this.#backends.values()].filter(({ text }) => !wanted.has(text));
    for (const backend of gone) {
      backend.isGone = true;
      this.#backends.delete(backend.text);
    }
    for (const endpoint of wanted.values()) if (!this.#backends.has(endpoint.text)) this.#add(endpoint);
    if (gone.length > 0) this.#affinity.keep(backend => !backend.isGone);
    this.#fill(this.#rings.Cluster, cluster);
    this.#fill(this.#rings.Local, local);
    return gone;
  }

  /**
   * The endpoint for a new connection; undefined if there is none. With affinity a client keeps its endpoint, but not
   * after a failed attempt. An ejected endpoint is chosen only if no other is left.
   */
  pick(policy: TrafficPolicy, client?: string, failed?: FailedAttempts): Backend | undefined {
    const ring = this.#rings[policy];
    const now = this.#clock.elapsed();
    const isLeft = (backend: Backend) => !failed?.refused.has(backend);
    const isUsable = (backend: Backend) => isLeft(backend) && backend.ejectedUntil <= now;
    const remembered = client === undefined || failed ? undefined : this.#remembered(ring, client);
    const chosen =
      (remembered && isUsable(remembered) ? remembered : undefined) ??
      this.#next(ring, isUsable) ??
      this.#next(ring, isLeft);
    if (chosen && client !== undefined) this.#affinity.remember(client, chosen);
    return chosen;
  }

  /** Called when an endpoint refused a connection. */
  eject(backend: Backend): void {
    backend.ejectedUntil = this.#clock.elapsed() + EJECTION_MS;
  }

  /** Called when an endpoint did not answer in time. */
  noteTimeout(backend: Backend): void {
    backend.timeouts += 1;
    if (backend.timeouts >= TIMEOUTS_TO_EJECT) this.eject(backend);
  }

  /** Called when an endpoint took a connection. */
  noteAnswer(backend: Backend): void {
    backend.ejectedUntil = 0;
    backend.timeouts = 0;
  }

  /** The endpoints of the plan. */
  get backends(): Iterable<Readonly<Backend>> {
    return this.#backends.values();
  }

  /** Forgets clients whose affinity has ended. */
  expireAffinity(): void {
    this.#affinity.expire();
  }

  /** The clients that keep their endpoint, at most `limit`. */
  pinnedClients(limit: number): readonly PinnedClient[] {
    const pinned: PinnedClient[] = [];
    for (const { client, endpoint, secondsLeft } of this.#affinity.clients()) {
      if (pinned.length === limit) break;
      const ip = clientIp(client);
      if (ip) pinned.push({ client: ip, endpoint: endpoint.text, secondsLeft });
    }
    return pinned;
  }

  #remembered(ring: Ring, client: string): Backend | undefined {
    const backend = this.#affinity.find(client);
    return backend && ring.backends.includes(backend) ? backend : undefined;
  }

  #next(ring: Ring, isUsable: (backend: Backend) => boolean): Backend | undefined {
    const { backends } = ring;
    let best: Backend | undefined;
    let place = 0;
    for (let i = 0; i < backends.length; i++) {
      const at = (ring.next + i) % backends.length;
      const backend = backends[at];
      if (!backend || !isUsable(backend) || (best && backend.active >= best.active)) continue;
      best = backend;
      place = at;
      if (this.#algorithm !== 'least-connections') break;
    }
    if (best) ring.next = (place + 1) % backends.length;
    return best;
  }

  #add({ text, ip, port }: Endpoint): void {
    const address = encodeSocketAddress(ip, port);
    const counters = { active: 0, connections: 0, bytes: 0 };
    this.#backends.set(text, { text, address, ...counters, ejectedUntil: 0, timeouts: 0, isGone: false });
  }

  /**
   * If the endpoints changed, begins a new round. Its order is random, so that nodes do not all begin with the same
   * one.
   */
  #fill(ring: Ring, endpoints: readonly Endpoint[]): void {
    const backends = endpoints.flatMap(({ text }) => this.#backends.get(text) ?? []);
    const known = new Set(ring.backends);
    if (backends.length === known.size && backends.every(backend => known.has(backend))) return;
    ring.backends = shuffled(backends, this.#random);
    ring.next = 0;
  }
}

function shuffled<T>(list: readonly T[], random: () => number): readonly T[] {
  const keyed = list.map(value => ({ value, key: random() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ value }) => value);
}
