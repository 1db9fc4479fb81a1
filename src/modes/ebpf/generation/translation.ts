import type { Hook, ProgramSpec } from '../../../kernel/bpf/index.ts';
import { KernelError } from '../../../kernel/errors.ts';
import { errorText } from '../../../lib/error-text.ts';
import type { Family } from '../../../net/index.ts';
import type { FrontendConnections } from '../../frontend-connections.ts';
import type { ModeCondition } from '../../mode.ts';
import { Attachment } from '../links/attachment.ts';
import { removeLinkPins } from '../links/link-pins.ts';
import { socketPrograms } from '../programs/index.ts';
import type { Usage } from './capacity.ts';
import { ConnectionCounters } from './connection-counters.ts';
import { contentsAfter, type FamilyChanges } from './contents.ts';
import { featuresFor } from './features.ts';
import type { Generation, Written } from './generation.ts';
import { withCounts } from './load-programs.ts';
import { LoadedGeneration } from './loaded-generation.ts';
import type { StateMaps } from './maps.ts';
import type { TranslationOptions } from './options.ts';
import type { PortChange } from './placed-port.ts';
import { ProgramChoice } from './program-choice.ts';

/** The counts of least connections. */
const COUNTS = ['active4', 'active6'] as const;

/** What serves at this moment, to be read. */
export interface Serving {
  readonly generation: Generation;
  /** The path of the control group. */
  readonly controlGroup: string;
  readonly links: readonly { readonly hook: Hook; readonly problem: string | undefined }[];
  readonly state: StateMaps;
}

/**
 * Translates connections at sockets: the generation that serves now, its programs and their links. What it cannot do is
 * left to the network, so its functions report errors and do not throw them.
 */
export class Translation {
  readonly programChoice: ProgramChoice;
  readonly #options: TranslationOptions;
  readonly #counters = new ConnectionCounters();
  readonly #planned = new Set<Family>();
  readonly #noticed = new Set<string>();
  #attachment: Attachment | undefined;
  #current: LoadedGeneration | undefined;
  /** Why nothing is served. */
  #problem: string | undefined;
  /** The last attempt failed. Only a thorough look tries again. */
  #waitsForLook = false;
  #generations = 0;

  constructor(options: TranslationOptions) {
    this.#options = options;
    this.programChoice = new ProgramChoice(options);
  }

  get generation(): Generation | undefined {
    return this.#current?.generation;
  }

  /** What serves now. Undefined if the network serves all connections. */
  get serving(): Serving | undefined {
    if (!this.#current || !this.#attachment) return undefined;
    const { generation, programs } = this.#current;
    const { group, links, state } = this.#attachment;
    return { generation, controlGroup: group.path, links: [...links.problems(programs)], state: state.maps };
  }

  /** The programs of the generation that serves now. */
  get programs(): readonly ProgramSpec[] {
    if (!this.#current || !this.#attachment) return [];
    const options = this.programChoice.optionsFor(this.#current.generation.features);
    return socketPrograms(withCounts(options, this.#attachment.state.maps));
  }

  /** How many generations this process made. */
  get generations(): number {
    return this.#generations;
  }

  usage(): Iterable<Usage> {
    return this.#current?.generation.usage() ?? [];
  }

  condition(): ModeCondition {
    const name = 'sockets';
    if (this.#current && this.#attachment) {
      return { name, isServing: true, note: servingNote(this.#attachment, this.#options) };
    }
    const reason = this.#problem ?? 'the Services of all families are not planned yet';
    return { name, isServing: false, note: `the network serves all connections: ${reason}` };
  }

  connections(): Iterable<FrontendConnections> {
    return this.#counters.read(this.#current?.generation);
  }

  /** Before all families were planned once, a former process's programs go on serving. */
  async write(changes: FamilyChanges): Promise<void> {
    await this.#write(changes);
    // A new generation takes over the counts of the last one, which still had these service ports.
    for (const { id, to } of changes.ports) if (!to) this.#counters.forget(changes.family, id);
  }

  async #write({ family, ports, nodeAddresses }: FamilyChanges): Promise<void> {
    this.#planned.add(family);
    if (!this.#isReady || this.#waitsForLook) return;
    await this.#attempt(async () => {
      const generation = this.#current?.generation;
      if (generation?.setNodeAddresses(family, nodeAddresses) !== 'written') return await this.#renew();
      let written = await writeUnlessFull(generation, family, ports);
      if (written === 'no-slots') {
        await this.#renewSlots();
        written = await writeUnlessFull(generation, family, ports);
      }
      if (written !== 'written') await this.#renew();
    });
  }

  /** Tries again, if nothing is served. Gives memory back that is no longer needed. */
  async tidy(): Promise<void> {
    if (!this.#isReady) return;
    if (!this.#current || this.#current.generation.hasUnusedParts) await this.#attempt(() => this.#renew());
    else this.#current.generation.forgetIdleEndpoints();
  }

  /** The proxy is there, so the programs may serve on. */
  renewLease(): void {
    this.#current?.generation.renewLease();
  }

  /** What another program did to links and pins, in words. */
  linkProblem(): string | undefined {
    if (!this.#current || !this.#attachment) return undefined;
    const { links, state } = this.#attachment;
    for (const { problem } of links.problems(this.#current.programs)) if (problem !== undefined) return problem;
    return state.pinProblem();
  }

  /** What another program did to the maps, in words. */
  async mapProblem(family: Family): Promise<string | undefined> {
    return await this.#current?.generation.difference(family);
  }

  /** Puts links and pins right. Returns whether it could. */
  async repairLinks(): Promise<boolean> {
    return await this.#attempt(async () => {
      if (!this.#current || !this.#attachment) return;
      const { links, state } = this.#attachment;
      const { programs } = this.#current;
      if (programs.has('release') && !links.isAttached('release')) return await this.#renew();
      links.install(programs);
      state.keep(this.#current.state);
    });
  }

  /** Writes all maps anew. Returns whether it could. */
  async repairMaps(): Promise<boolean> {
    return await this.#attempt(() => this.#renew());
  }

  /** Pinned links go on serving. */
  close(): void {
    this.#replaceCurrent(undefined);
    this.#attachment?.close();
    this.#attachment = undefined;
  }

  get #isReady(): boolean {
    return this.#options.families.every(family => this.#planned.has(family));
  }

  async #attempt(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      this.#problem = undefined;
      this.#waitsForLook = false;
      return true;
    } catch (error) {
      this.#giveUp(error);
      return false;
    } finally {
      this.#options.attempted?.();
    }
  }

  /** No socket may be led to endpoints that are out of date, so the network serves all of them. */
  #giveUp(error: unknown): void {
    const wasServing = this.#current !== undefined;
    const isKnown = this.#problem === errorText(error);
    this.#problem = errorText(error);
    // What served until now is tried once more with the next sync.
    this.#waitsForLook = !wasServing;
    try {
      this.#attachment?.links.detach();
      this.close();
      removeLinkPins(this.#options);
    } catch (later) {
      this.#options.failed(later, false);
    }
    if (!isKnown || wasServing) this.#options.failed(error, wasServing);
  }

  async #renew(): Promise<void> {
    const attachment = this.#openAttachment();
    const changes = await this.#options.changes();
    const former = this.#current?.generation;
    const contents = changes.map(each => contentsAfter(each, former));
    const features = featuresFor(
      contents.map(({ need }) => need),
      this.#options,
    );
    // Sockets that closed meanwhile were not counted off, so the counts begin anew.
    if (!attachment.links.isAttached('release')) attachment.state.drop(COUNTS);
    const loaded = await LoadedGeneration.make(attachment, {
      former,
      contents,
      features,
      program: this.programChoice.optionsFor(features),
    });
    try {
      loaded.generation.renewLease();
      attachment.links.install(loaded.programs);
    } catch (error) {
      loaded.close();
      throw error;
    }
    this.#replaceCurrent(loaded);
    this.#generations++;
    attachment.state.dropOthers(loaded.state);
  }

  async #renewSlots(): Promise<void> {
    if (!this.#current || !this.#attachment) return;
    await this.#current.renewSlots(this.#attachment, this.programChoice.optionsFor(this.#current.generation.features));
    this.#generations++;
  }

  #openAttachment(): Attachment {
    if (this.#attachment) return this.#attachment;
    this.programChoice.requireSupport();
    this.#attachment = Attachment.open(this.#options, message => this.#notice(message));
    return this.#attachment;
  }

  #notice(message: string): void {
    if (this.#noticed.has(message)) return;
    this.#noticed.add(message);
    this.#options.notice(message);
  }

  #replaceCurrent(loaded: LoadedGeneration | undefined): void {
    const old = this.#current;
    if (old) this.#counters.carryOver(old.generation);
    loaded?.generation.takeOver();
    this.#current = loaded;
    old?.close();
  }
}

function servingNote({ group, isPinned }: Attachment, { sockets }: TranslationOptions): string {
  const whose = sockets === 'all' ? 'all processes' : 'processes of the node itself';
  const until = isPinned ? '' : ', until this process ends';
  return `TCP connections of ${whose} below ${group.path} are translated${until}`;
}

/** Other programs may have put entries into a map that this process does not know of. */
async function writeUnlessFull(generation: Generation, family: Family, ports: readonly PortChange[]): Promise<Written> {
  try {
    return await generation.write(family, ports);
  } catch (error) {
    if (error instanceof KernelError && error.errno === 'E2BIG') return 'full';
    throw error;
  }
}
