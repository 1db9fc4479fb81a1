import { Breaks } from '../../lib/breaks.ts';
import type { Family, Ip } from '../../net/index.ts';
import { type Frontend, planId, type ServicePortPlan } from '../../plan/index.ts';
import { emptyListing, type Listing } from '../listing.ts';
import type { ModeSettings } from '../mode.ts';
import type { PlanBook } from '../plan-book.ts';
import { emptyReading, type KernelReading } from '../read-back.ts';
import type { Drift, DriftLook, WriteOutcome, Writer } from '../writer.ts';
import { findDrift, repairDrift } from './drift.ts';
import type { FamilyChanges } from './generation/contents.ts';
import type { PortChange } from './generation/placed-port.ts';
import type { Translation } from './generation/translation.ts';
import { listEbpf } from './listing.ts';
import { readBackEbpf } from './read-back.ts';
import { nodeAddresses, type RenderOptions, render, type SocketPort } from './render.ts';

export interface EbpfWriterOptions {
  readonly family: Family;
  readonly book: PlanBook;
  readonly translation: Translation;
  /** All addresses of this node. The same set as before if no address changed. */
  nodeIPs(): ReadonlySet<Ip>;
  /** Runs work while no write runs. */
  turn<T>(work: () => Promise<T>): Promise<T>;
  /** The same for work that changes nothing. */
  turnWithoutChange<T>(work: () => Promise<T>): Promise<T>;
}

interface TakenSettings {
  readonly settings: ModeSettings;
  readonly nodeIPs: ReadonlySet<Ip>;
  readonly nodeAddresses: FamilyChanges['nodeAddresses'];
}

/** Hands the plans of one family to the maps, which both families share. No write fails: the network serves the rest. */
export class EbpfWriter implements Writer {
  readonly #options: EbpfWriterOptions;
  #taken: TakenSettings | undefined;
  /** Service ports that the network does not serve. */
  #left: ReadonlySet<string> = new Set();
  /** Service ports that must be written although their plans did not change. */
  readonly #again = new Set<string>();
  #isWritten = false;

  constructor(options: EbpfWriterOptions) {
    this.#options = options;
  }

  get isNextWriteFull(): boolean {
    return !this.#isWritten;
  }

  takeSettings(settings: ModeSettings): void {
    const { family, book } = this.#options;
    const nodeIPs = this.#options.nodeIPs();
    const before = this.#taken;
    this.#taken = { settings, nodeIPs, nodeAddresses: nodeAddresses(family, settings, nodeIPs) };
    if (!before) return;
    if (before.settings.masqueradeAll !== settings.masqueradeAll) book.changeAll();
    else if (before.nodeIPs !== nodeIPs) this.#noteNodeIPs(before.nodeIPs, nodeIPs);
  }

  async write(): Promise<WriteOutcome> {
    const { family, book, translation } = this.#options;
    if (!this.#taken) return 'written';
    const ports = translation.generation ? await this.#portChanges(this.#taken) : [];
    await translation.write({ family, ports, nodeAddresses: this.#taken.nodeAddresses });
    this.#again.clear();
    this.#isWritten = true;
    book.commitChanged();
    return 'written';
  }

  /** The service ports that sockets leave alone, by plan id. Returns whether that changed. */
  leave(ids: readonly string[]): boolean {
    const left = new Set(ids);
    const changed = [...left, ...this.#left].filter(id => left.has(id) !== this.#left.has(id));
    this.#left = left;
    for (const id of changed) this.#again.add(id);
    return changed.length > 0;
  }

  /** What changed since the generation that serves now. Undefined before the first settings. */
  async changes(): Promise<FamilyChanges | undefined> {
    if (!this.#taken) return undefined;
    const { nodeAddresses } = this.#taken;
    return { family: this.#options.family, ports: await this.#portChanges(this.#taken), nodeAddresses };
  }

  findDrift(look: DriftLook): Promise<Drift | undefined> {
    return findDrift(this.#options, look);
  }

  repair(drift: Drift): Promise<string | undefined> {
    return repairDrift(this.#options.translation, drift);
  }

  async readBack(plan: ServicePortPlan): Promise<KernelReading> {
    const { family, translation } = this.#options;
    const serving = translation.serving;
    if (!this.#taken) return emptyReading(translation.condition().note);
    // The mode wants nothing in the kernel then. `condition` says why.
    if (!serving) return { entries: [], affinity: [] };
    const { generation, ...place } = serving;
    const { maps } = generation;
    const placed = generation.ports(family).get(planId(plan));
    return await readBackEbpf({
      ...place,
      family,
      placed,
      left: plan.port.protocol === 'TCP' ? leftFrontends(plan, placed?.port) : [],
      nodeAddresses: this.#taken.nodeAddresses,
      maps,
      runOf: pool => generation.runOf(pool),
      nodeCookie: translation.programChoice.nodeCookie,
      isCurrent: () => translation.generation?.maps === maps,
    });
  }

  async listing(plans: readonly ServicePortPlan[]): Promise<Listing> {
    const { family, translation } = this.#options;
    const { generation, programs } = translation;
    if (!this.#taken || !generation) return emptyListing(translation.condition().note);
    const placed = generation.ports(family);
    const own = plans.flatMap(plan => {
      const port = placed.get(planId(plan));
      return port ? [{ service: plan.service, placed: port }] : [];
    });
    const { nodeAddresses: addresses } = this.#taken;
    return await listEbpf({
      family,
      programs,
      own,
      all: placed.values(),
      nodeAddresses: addresses,
      runOf: pool => generation.runOf(pool),
    });
  }

  async #portChanges({ settings, nodeIPs }: TakenSettings): Promise<readonly PortChange[]> {
    const breaks = new Breaks();
    const { canRefuse } = this.#options.translation.programChoice;
    const options = { masqueradeAll: settings.masqueradeAll, nodeIPs, canRefuse };
    const changes: PortChange[] = [];
    for (const id of this.#changedIds()) {
      if (breaks.isDue) await breaks.take();
      changes.push({ id, to: this.#port(id, options) });
    }
    return changes;
  }

  /** What sockets do for a service port. Undefined if they leave it alone. */
  #port(id: string, options: RenderOptions): SocketPort | undefined {
    const plan = this.#options.book.wantedPlan(id);
    if (!plan || this.#left.has(id)) return undefined;
    try {
      return render(plan, options, id);
    } catch {
      // The network cannot render such a plan either. It sets the service port aside and reports why.
      return undefined;
    }
  }

  /** The service ports that the maps may have in an older version. Without maps: all. */
  #changedIds(): Iterable<string> {
    const { book, translation } = this.#options;
    return translation.generation ? new Set([...book.changedIds(), ...this.#again]) : book.wantedIds();
  }

  /** Service ports with a frontend whose address the node has got itself, or no longer has. */
  #noteNodeIPs(before: ReadonlySet<Ip>, after: ReadonlySet<Ip>): void {
    const changed = new Set([...before, ...after].filter(ip => before.has(ip) !== after.has(ip)));
    for (const [id, { frontends }] of this.#options.book.wantedPlans()) {
      if (frontends.some(({ ip }) => ip !== undefined && changed.has(ip))) this.#again.add(id);
    }
  }
}

/** The frontends that sockets leave to the network. */
function leftFrontends({ frontends }: ServicePortPlan, port: SocketPort | undefined): readonly Frontend[] {
  const isServed = ({ ip, port: number }: Frontend) =>
    port?.targets.some(target => target.ip === ip && target.port === number) === true;
  return frontends.filter(frontend => !isServed(frontend));
}
