import type { TrafficPolicy } from '../../api/index.ts';
import { encodeSocketAddress } from '../../kernel/sockets/index.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Algorithm, Endpoint, HashInput } from '../../model/index.ts';
import type { Family } from '../../net/index.ts';
import type { ChosenEndpoints } from '../../plan/index.ts';
import type { PinnedClient } from '../read-back.ts';
import { Affinity } from './affinity.ts';
import type { Backend } from './backend.ts';
import { clientIp, hashClient } from './client-address.ts';
import { pickerOf } from './pickers.ts';
import { Ring } from './ring.ts';

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
  /** The balancer prefers others. */
  readonly silent?: ReadonlySet<Backend> | undefined;
}

type EndpointLists = Pick<ChosenEndpoints, 'cluster' | 'local'>;

/** Chooses endpoints of one service port, for the traffic of each policy. */
export class Balancer {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #affinity: Affinity<Backend>;
  readonly #backends = new Map<string, Backend>();
  readonly #rings: Readonly<Record<TrafficPolicy, Ring>> = {
    Cluster: new Ring(),
    Local: new Ring(),
  };
  #algorithm: Algorithm | undefined;
  #hashBy: HashInput | undefined;

  constructor({ clock, random = Math.random }: BalancerOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#affinity = new Affinity(clock);
  }

  get hasAffinity(): boolean {
    return this.#affinity.isOn;
  }

  /** `hashBy` counts for consistent hashes only. */
  configure(algorithm: Algorithm | undefined, affinitySeconds: number, hashBy?: HashInput): void {
    this.#algorithm = algorithm;
    this.#hashBy = algorithm === 'consistent-hash' ? hashBy : undefined;
    this.#affinity.configure(affinitySeconds);
  }

  /** The number by which a consistent hash chooses. `address` is the client's sockaddr. 0 for other algorithms. */
  hash(family: Family, address: Buffer): number {
    return this.#hashBy === undefined ? 0 : hashClient(family, address, this.#hashBy);
  }

  /** Takes the endpoints of a plan, and the same by slot. Returns those that left it. */
  setEndpoints({ cluster, local }: EndpointLists, slots: EndpointLists = { cluster, local }): readonly Backend[] {
    const wanted = new Map([...cluster, ...local].map(endpoint => [endpoint.text, endpoint]));
    const gone = [...this.#backends.values()].filter(({ text }) => !wanted.has(text));
    for (const backend of gone) {
      backend.isGone = true;
      this.#backends.delete(backend.text);
    }
    for (const endpoint of wanted.values()) if (!this.#backends.has(endpoint.text)) this.#add(endpoint);
    if (gone.length > 0) this.#affinity.keep(backend => !backend.isGone);
    this.#rings.Cluster.fill(this.#backendsOf(slots.cluster), this.#random);
    this.#rings.Local.fill(this.#backendsOf(slots.local), this.#random);
    return gone;
  }

  /**
   * The endpoint for a new connection; undefined if there is none. With affinity a client keeps its endpoint, but not
   * after a failed attempt. An ejected endpoint is chosen only if no other is left.
   */
  pick(policy: TrafficPolicy, client?: string, failed?: FailedAttempts, hash = 0): Backend | undefined {
    const ring = this.#rings[policy];
    const now = this.#clock.elapsed();
    const isLeft = (backend: Backend) => !failed?.refused.has(backend);
    const isUsable = (backend: Backend) => isLeft(backend) && backend.ejectedUntil <= now;
    const remembered = client === undefined || failed ? undefined : this.#remembered(ring, client);
    const chosen =
      (remembered && isUsable(remembered) ? remembered : undefined) ??
      (failed?.silent && this.#choose(ring, hash, backend => isUsable(backend) && !failed.silent?.has(backend))) ??
      this.#choose(ring, hash, isUsable) ??
      this.#choose(ring, hash, isLeft);
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
    return backend && ring.members.includes(backend) ? backend : undefined;
  }

  #choose(ring: Ring, hash: number, isUsable: (backend: Backend) => boolean): Backend | undefined {
    return pickerOf(this.#algorithm)(ring, { hash, random: this.#random, isUsable });
  }

  #add({ text, ip, port }: Endpoint): void {
    const address = encodeSocketAddress(ip, port);
    const counters = { active: 0, connections: 0, bytes: 0 };
    this.#backends.set(text, { text, address, ...counters, ejectedUntil: 0, timeouts: 0, isGone: false });
  }

  #backendsOf(endpoints: readonly Endpoint[]): readonly Backend[] {
    const backends: Backend[] = [];
    // A table of hashes has thousands of slots, so this makes no list for each.
    for (const { text } of endpoints) {
      const backend = this.#backends.get(text);
      if (backend) backends.push(backend);
    }
    return backends;
  }
}
