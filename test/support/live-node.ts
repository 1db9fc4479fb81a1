import { type EndpointSlice, lookupIn, objectKey, type Service } from '../../src/api/index.ts';
import type { Facts } from '../../src/explain/index.ts';
import { History } from '../../src/history/index.ts';
import { LiveHub, type LiveHubOptions, PulseRecorder } from '../../src/inspect/index.ts';
import { type Change, latestOf } from '../../src/lib/change.ts';
import { CurrentProblems } from '../../src/lib/current-problems.ts';
import { DEFAULT_MODE, type SetAside } from '../../src/modes/index.ts';
import { DEFAULT_PLAN_SETTINGS } from '../../src/plan/index.ts';
import { ProxyState } from '../../src/proxy/index.ts';
import { factsFrom } from './facts.ts';
import { ManualClock } from './manual-clock.ts';

const FAMILY = 'IPv4';
const TURNS = 20;

/** A proxy without a kernel: objects, plans and a history. A test decides when it syncs. */
export class LiveNode {
  /** By default time passes only when a test advances it. */
  readonly clock = new ManualClock(Date.parse('2026-01-01T00:00:00Z'));
  readonly history: History;
  readonly pulse: PulseRecorder;
  readonly problems = new CurrentProblems();
  readonly hub: LiveHub;
  counts: ReadonlyMap<string, number> | undefined;
  setAside: readonly SetAside[] = [];
  /** What readers do not see: how often the hub asked. */
  readonly asked = { facts: 0, status: 0, counts: 0 };
  status: object = {};
  readonly #services = new Map<string, Service>();
  readonly #slices = new Map<string, EndpointSlice>();
  readonly #state = new ProxyState({
    nodeName: 'node-a',
    settings: DEFAULT_PLAN_SETTINGS,
    startedAt: 0,
    report: problem => this.problems.add(problem),
  });
  /** Changes that no sync has taken yet, and changes that the kernel does not have yet. */
  readonly #pending = { arrived: false, taken: false };

  constructor(overrides: Partial<LiveHubOptions> = {}) {
    const { clock = this.clock } = overrides;
    this.history = new History(clock);
    this.pulse = new PulseRecorder(clock);
    this.hub = new LiveHub({ ...this.#options(), ...overrides });
  }

  /** The node has these objects from the start. */
  static async with(objects: readonly (Service | EndpointSlice)[]): Promise<LiveNode> {
    const node = new LiveNode();
    for (const to of objects) node.change({ type: 'added', to } as Change<Service> | Change<EndpointSlice>);
    node.history.listed();
    node.sync();
    await node.advance(1000);
    return node;
  }

  /** Lets time pass. On a busy machine, work that takes breaks needs some turns of the event loop more. */
  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    for (let i = 0; i < TURNS; i++) await new Promise(resolve => setImmediate(resolve));
  }

  facts(): Facts {
    const [services, slices] = [this.#services, this.#slices];
    const isPending = this.#pending.arrived || this.#pending.taken;
    return {
      ...factsFrom(this.#state, { services, slices, families: [FAMILY], isPending }),
      objects: lookupIn({ services, slices }),
      problems: this.problems.all,
      setAside: this.setAside,
      mode: DEFAULT_MODE,
    };
  }

  /** An event of the source. A sync has yet to write it. */
  change(change: Change<Service> | Change<EndpointSlice>): void {
    const object = latestOf<Service | EndpointSlice>(change);
    const key = objectKey(object.metadata);
    this.problems.clear(`${object.kind} ${key}`);
    this.#pending.arrived = true;
    const objects: Map<string, Service | EndpointSlice> = object.kind === 'Service' ? this.#services : this.#slices;
    if (change.type === 'removed') objects.delete(key);
    else objects.set(key, object);
    if (object.kind === 'Service') {
      this.history.serviceChanged(change as Change<Service>);
      this.#state.serviceChanged(change as Change<Service>);
    } else {
      this.history.endpointSliceChanged(change as Change<EndpointSlice>);
      this.#state.endpointSliceChanged(change as Change<EndpointSlice>);
    }
  }

  add(to: Service | EndpointSlice): void {
    this.change({ type: 'added', to } as Change<Service> | Change<EndpointSlice>);
  }

  update(from: Service | EndpointSlice, to: Service | EndpointSlice): void {
    this.change({ type: 'updated', from, to } as Change<Service> | Change<EndpointSlice>);
  }

  remove(from: Service | EndpointSlice): void {
    this.change({ type: 'removed', from } as Change<Service> | Change<EndpointSlice>);
  }

  /** A sync takes all changes, but the kernel does not have them yet. */
  take(): number {
    this.#pending.taken ||= this.#pending.arrived;
    this.#pending.arrived = false;
    const { model, plans } = this.#state.takeFamily(FAMILY);
    this.history.taken();
    this.history.planned(FAMILY, model, plans);
    return plans.added.length + plans.updated.length + plans.removed.length;
  }

  /** The kernel has all changes that were taken. */
  written(servicePorts = 0): void {
    const latencyMs = this.history.synced(FAMILY, { full: false, milliseconds: 1 });
    this.pulse.syncEnded({ servicePorts, milliseconds: 1, latencyMs });
    this.#pending.taken = false;
  }

  sync(): void {
    this.written(this.take());
  }

  #options(): LiveHubOptions {
    return {
      clock: this.clock,
      nodeName: 'node-a',
      facts: () => {
        this.asked.facts++;
        return this.facts();
      },
      history: this.history,
      status: () => {
        this.asked.status++;
        return { checks: [], watches: [], families: [], ...this.status } as never;
      },
      pulse: this.pulse,
      connectionCounts: async () => {
        this.asked.counts++;
        return this.counts;
      },
    };
  }
}
