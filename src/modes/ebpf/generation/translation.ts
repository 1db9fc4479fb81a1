import type { Hook, ProgramSpec } from '../../../kernel/bpf/index.ts';
import { KernelError } from '../../../kernel/errors.ts';
import { type NetworkNamespace, namespaceCookie } from '../../../kernel/netns.ts';
import { errorText } from '../../../lib/error-text.ts';
import type { Family } from '../../../net/index.ts';
import type { FrontendConnections } from '../../frontend-connections.ts';
import type { ModeCondition } from '../../mode.ts';
import { Attachment, type Place, UnavailableError } from '../links/attachment.ts';
import type { LoadedPrograms } from '../links/socket-links.ts';
import type { StateMapName } from '../names.ts';
import { type ProgramOptions, socketPrograms } from '../programs/index.ts';
import { socketSupport } from '../support.ts';
import { capacityFor, type FamilyContents, type Usage } from './capacity.ts';
import { ConnectionCounters } from './connection-counters.ts';
import { Generation } from './generation.ts';
import { closePrograms, loadPrograms } from './load-programs.ts';
import type { Features, StateMaps } from './maps.ts';
import type { PortChange } from './placed-port.ts';

/** Options of the mode, as the configuration and flags give them. */
export interface EbpfOptions extends Place {
  /** Whose connections are translated: those of all processes of the machine, or of the node's own network only. */
  readonly sockets: 'all' | 'node';
  readonly countConnections?: boolean | undefined;
  /** Only these network namespaces are served, by cookie. For tests and demos. */
  readonly listedNamespaces?: Iterable<bigint> | undefined;
}

export interface TranslationOptions extends EbpfOptions {
  readonly namespace?: NetworkNamespace | undefined;
  /** The families that must be planned before the first generation. */
  readonly families: readonly Family[];
  /** Everything that the planned families want in the maps. */
  contents(): Promise<readonly FamilyContents[]>;
  /** `needsSync`: sockets were served until now. */
  failed(error: unknown, needsSync: boolean): void;
  notice(message: string): void;
}

/** What changed in one family. */
export interface FamilyChanges {
  readonly family: Family;
  readonly ports: readonly PortChange[];
  readonly nodeAddresses: FamilyContents['nodeAddresses'];
}

/** What serves at this moment, to be read. */
export interface Serving {
  readonly generation: Generation;
  /** The path of the control group. */
  readonly controlGroup: string;
  readonly links: readonly { readonly hook: Hook; readonly problem: string | undefined }[];
  readonly state: StateMaps;
}

interface Current {
  readonly generation: Generation;
  readonly programs: LoadedPrograms;
  readonly state: readonly StateMapName[];
}

/**
 * Translates connections at sockets: the generation that serves now, its programs and their links. What it cannot do is
 * left to the network, so its functions report errors and do not throw them.
 */
export class Translation {
  readonly #options: TranslationOptions;
  readonly #counters = new ConnectionCounters();
  readonly #planned = new Set<Family>();
  #attachment: Attachment | undefined;
  #current: Current | undefined;
  /** Why nothing is served. */
  #problem: string | undefined;
  /** The last attempt failed and the next write must not try again. */
  #waitsForLook = false;
  #generations = 0;
  #canRefuse = false;

  constructor(options: TranslationOptions) {
    this.#options = options;
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
    return this.#current ? socketPrograms(this.#programOptions(this.#current.generation.features)) : [];
  }

  /** The cookie of the node's network namespace. */
  get nodeCookie(): bigint {
    return namespaceCookie(this.#options.namespace);
  }

  /** Whether the kernel can refuse inside `connect`. Known as soon as there is a generation. */
  get canRefuse(): boolean {
    return this.#canRefuse;
  }

  /** How many generations this process made. */
  get generations(): number {
    return this.#generations;
  }

  usage(): Iterable<Usage> {
    return this.#current?.generation.usage() ?? [];
  }

  condition(): ModeCondition {
    const { sockets } = this.#options;
    const name = 'sockets';
    if (!this.#current || !this.#attachment) {
      const reason = this.#problem ?? 'the Services of all families are not planned yet';
      return { name, isServing: false, note: `the network serves all connections: ${reason}` };
    }
    const { group, isPinned } = this.#attachment;
    const whose = sockets === 'all' ? 'all processes' : 'processes of the node itself';
    const until = isPinned ? '' : ', until this process ends';
    return { name, isServing: true, note: `TCP connections of ${whose} below ${group.path} are translated${until}` };
  }

  connections(): Iterable<FrontendConnections> {
    return this.#counters.read(this.#current?.generation);
  }

  /** Before all families were planned once, a former process's programs go on serving. */
  async write({ family, ports, nodeAddresses }: FamilyChanges): Promise<void> {
    this.#planned.add(family);
    if (!this.#isReady || this.#waitsForLook) return;
    await this.#attempt(async () => {
      const generation = this.#current?.generation;
      const isWritten =
        generation?.setNodeAddresses(family, nodeAddresses) === 'written' &&
        (await writeUnlessFull(generation, ports)) === 'written';
      if (!isWritten) await this.#renew();
    });
  }

  /** Tries again, if nothing is served. */
  async retry(): Promise<void> {
    if (this.#isReady && !this.#current) await this.#attempt(() => this.#renew());
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

  /** Puts everything that other programs changed right. Returns whether it could. */
  async repairLinks(): Promise<boolean> {
    return await this.#attempt(async () => {
      if (!this.#current) return;
      this.#attachment?.links.install(this.#current.programs);
      this.#attachment?.state.keep(this.#current.state);
    });
  }

  /** Writes all maps anew. Returns whether it could. */
  async repairMaps(): Promise<boolean> {
    return await this.#attempt(() => this.#renew());
  }

  /** Pinned links go on serving. */
  close(): void {
    this.#closeCurrent();
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
    }
  }

  /** No socket may be led to endpoints that are out of date, so the network serves all of them. */
  #giveUp(error: unknown): void {
    const wasServing = this.#current !== undefined;
    const text = errorText(error);
    const isNew = text !== this.#problem;
    this.#problem = text;
    this.#waitsForLook = !wasServing;
    this.#closeCurrent();
    try {
      this.#attachment?.withdraw(this.#options);
    } catch (later) {
      this.#options.failed(later, false);
    }
    this.#attachment?.close();
    this.#attachment = undefined;
    if (isNew || wasServing) this.#options.failed(error, wasServing);
  }

  async #renew(): Promise<void> {
    const { links, state } = this.#openAttachment();
    const contents = await this.#options.contents();
    const features = this.#featuresFor(contents);
    const names = stateMapsFor(features);
    state.keep(names);
    const generation = new Generation(capacityFor(contents), features, state.maps);
    try {
      for (const { family, ports, nodeAddresses } of contents) {
        generation.setNodeAddresses(family, nodeAddresses);
        await generation.write(ports.map(port => ({ family, id: port.id, to: port })));
      }
      const programs = this.#load(generation, features);
      try {
        links.install(programs);
      } catch (error) {
        closePrograms(programs);
        throw error;
      }
      this.#replaceCurrent({ generation, programs, state: names });
    } catch (error) {
      generation.close();
      throw error;
    }
    state.dropOthers(names);
  }

  #openAttachment(): Attachment {
    if (this.#attachment) return this.#attachment;
    const support = socketSupport(this.#options);
    if ('missing' in support) throw new UnavailableError(support.missing);
    this.#canRefuse = support.canRefuse;
    this.#attachment = Attachment.open(this.#options, this.#options.notice);
    return this.#attachment;
  }

  #load(generation: Generation, features: Features): LoadedPrograms {
    const state: ReadonlyMap<string, { readonly fd: number }> = this.#attachment?.state.maps ?? new Map();
    const maps: ReadonlyMap<string, { readonly fd: number }> = generation.maps;
    return loadPrograms(this.#programOptions(features), name => {
      const map = maps.get(name) ?? state.get(name);
      if (!map) throw new RangeError(`there is no map ${name}`);
      return map.fd;
    });
  }

  #programOptions(features: Features): ProgramOptions {
    return {
      nodeCookie: this.nodeCookie,
      scope: features.listedNamespaces ? 'listed' : this.#options.sockets,
      hasAffinity: features.affinity,
      hasLeastConnections: features.leastConnections,
      countsConnections: features.counts,
      canRefuse: this.canRefuse,
    };
  }

  #featuresFor(contents: readonly FamilyContents[]): Features {
    const { listedNamespaces } = this.#options;
    const ports = contents.flatMap(family => family.ports);
    return {
      affinity: ports.some(({ affinitySeconds }) => affinitySeconds > 0),
      leastConnections: ports.some(({ isLeastConnections }) => isLeastConnections),
      counts: this.#options.countConnections === true,
      listedNamespaces: listedNamespaces && [...listedNamespaces],
    };
  }

  #replaceCurrent(current: Current): void {
    this.#closeCurrent();
    this.#current = current;
    this.#generations++;
  }

  #closeCurrent(): void {
    if (!this.#current) return;
    const { generation, programs } = this.#current;
    this.#current = undefined;
    this.#counters.carryOver(generation);
    generation.close();
    closePrograms(programs);
  }
}

function stateMapsFor({ affinity, leastConnections }: Features): readonly StateMapName[] {
  const names: StateMapName[] = ['peers'];
  if (affinity) names.push('affinity4', 'affinity6');
  if (leastConnections) names.push('active4', 'active6');
  return names;
}

/** Other programs may have put entries into a map that this process does not know of. */
async function writeUnlessFull(generation: Generation, ports: readonly PortChange[]): Promise<'written' | 'full'> {
  try {
    return await generation.write(ports);
  } catch (error) {
    if (error instanceof KernelError && error.errno === 'E2BIG') return 'full';
    throw error;
  }
}
