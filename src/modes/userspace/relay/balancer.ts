import type { TrafficPolicy } from '../../../api/index.ts';
import { encodeSocketAddress } from '../../../kernel/sockets/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Balance, Endpoint } from '../../../model/index.ts';
import type { ChosenEndpoints } from '../../../plan/index.ts';
import { Affinity } from './affinity.ts';

/** An endpoint of a service port, with what is known of it from connecting to it. */
export interface Backend {
  readonly text: string;
  /** As a sockaddr. */
  readonly address: Buffer;
  /** Connections that it has from here. */
  active: number;
  /** It did not take a connection; until then others are asked. 0: it takes them. */
  ejectedUntil: number;
  /** How often it did not answer in time, one after another. */
  silences: number;
  /** It left the plan; connections that it has go on. */
  gone: boolean;
}

/** How long an endpoint that refused a connection is left alone while others can be asked. */
const EJECTION_MS = 5000;
const TELLING_SILENCES = 2;

export interface BalancerOptions {
  readonly clock: Clock;
  /** From 0 to 1, as Math.random. */
  readonly random?: () => number;
}

/** What went before, if an endpoint did not take the connection: the client's former endpoint counts no more. */
export interface PickFailure {
  /** Those that are not asked again. */
  readonly refused: ReadonlySet<Backend>;
}

interface Ring {
  backends: readonly Backend[];
  next: number;
}

/** Chooses endpoints of one service port, for traffic of each policy. */
export class Balancer {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #affinity: Affinity<Backend>;
  readonly #backends = new Map<string, Backend>();
  readonly #rings: Readonly<Record<TrafficPolicy, Ring>> = {
    Cluster: { backends: [], next: 0 },
    Local: { backends: [], next: 0 },
  };
  #balance: Balance = 'round-robin';

  constructor({ clock, random = Math.random }: BalancerOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#affinity = new Affinity(clock);
  }

  get hasAffinity(): boolean {
    return this.#affinity.isOn;
  }

  configure(balance: Balance, affinitySeconds: number): void {
    this.#balance = balance;
    this.#affinity.configure(affinitySeconds);
  }

  /** Takes the endpoints of a plan and returns those that are gone. */
  setEndpoints({ cluster, local }: Pick<ChosenEndpoints, 'cluster' | 'local'>): readonly Backend[] {
    const wanted = new Map([...cluster, ...local].map(endpoint => [endpoint.text, endpoint]));
    const gone = [...this.#backends.values()].filter(({ text }) => !wanted.has(text));
    for (const backend of gone) {
      backend.gone = true;
      this.#backends.delete(backend.text);
    }
    for (const endpoint of wanted.values()) if (!this.#backends.has(endpoint.text)) this.#add(endpoint);
    if (gone.length > 0) this.#affinity.keep(backend => !backend.gone);
    this.#fill(this.#rings.Cluster, cluster);
    this.#fill(this.#rings.Local, local);
    return gone;
  }

  /**
   * The endpoint for a new connection; undefined if there is none. With affinity a client keeps the one it had. Those that
   * refuse are asked only if nobody else is left.
   */
  pick(policy: TrafficPolicy, client?: string, failure?: PickFailure): Backend | undefined {
    const ring = this.#rings[policy];
    const now = this.#clock.elapsed();
    const isLeft = (backend: Backend) => !failure?.refused.has(backend);
    const isUsable = (backend: Backend) => isLeft(backend) && backend.ejectedUntil <= now;
    const remembered = client === undefined || failure ? undefined : this.#remembered(ring, client);
    const chosen =
      (remembered && isUsable(remembered) ? remembered : undefined) ??
      this.#next(ring, isUsable) ??
      this.#next(ring, isLeft);
    if (chosen && client !== undefined) this.#affinity.remember(client, chosen);
    return chosen;
  }

  /** It refused a connection. */
  eject(backend: Backend): void {
    backend.ejectedUntil = this.#clock.elapsed() + EJECTION_MS;
  }

  /** It did not answer in time. Once may be a busy machine. */
  silent(backend: Backend): void {
    backend.silences += 1;
    if (backend.silences >= TELLING_SILENCES) this.eject(backend);
  }

  answered(backend: Backend): void {
    backend.ejectedUntil = 0;
    backend.silences = 0;
  }

  /** Forgets clients that were away for too long. */
  expire(): void {
    this.#affinity.expire();
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
      if (this.#balance === 'round-robin') break;
    }
    if (best) ring.next = (place + 1) % backends.length;
    return best;
  }

  #add({ text, ip, port }: Endpoint): void {
    const address = encodeSocketAddress(ip, port);
    this.#backends.set(text, { text, address, active: 0, ejectedUntil: 0, silences: 0, gone: false });
  }

  /** Another membership begins a new round in a new random order, so that nodes do not all begin with the same one. */
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
