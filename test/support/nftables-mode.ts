import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { EndpointSlice, Service } from '../../src/api/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { NftablesSocket } from '../../src/kernel/nftables/index.ts';
import { type LocalDetector, Model, parseNodePortAddresses } from '../../src/model/index.ts';
import type { ModeEvents, ModeSettings, SetAside } from '../../src/modes/index.ts';
import { NftablesMode } from '../../src/modes/nftables/index.ts';
import { type Family, type Ip, parseCidr } from '../../src/net/index.ts';
import { Planner, type PlanOptions } from '../../src/plan/index.ts';
import type { EventTarget } from './cluster-events.ts';

const cidr = parseCidr('10.244.0.0/16');
const DETECTOR: LocalDetector | undefined = cidr && { kind: 'source-cidr', cidr };

export function modeSettingsFor(family: Family, overrides: Partial<ModeSettings> = {}): ModeSettings {
  return {
    localDetector: DETECTOR,
    masqueradeAll: false,
    masqueradeMark: 0x4000,
    nodePortAddresses: parseNodePortAddresses(family, []),
    nodePortIPs: [],
    serviceCIDRs: ['10.96.0.0/12', 'fd00:10:96::/108'],
    ...overrides,
  };
}

/** One family of nftables mode in a namespace, fed with objects. What it told is kept. */
export class ModeUnderTest implements EventTarget {
  readonly namespace: NetworkNamespace;
  readonly told: string[] = [];
  readonly refused: SetAside[] = [];
  readonly #family: Family;
  readonly #settings: ModeSettings;
  #model: Model;
  #planner: Planner;
  #mode: NftablesMode;
  #countConnections: boolean;

  constructor(
    namespace: NetworkNamespace,
    family: Family = 'IPv4',
    settings: Partial<ModeSettings> = {},
    countConnections = false,
  ) {
    this.namespace = namespace;
    this.#family = family;
    this.#settings = modeSettingsFor(family, settings);
    this.#countConnections = countConnections;
    [this.#model, this.#planner] = this.#plans();
    this.#mode = this.#open();
  }

  setService(service: Service): void {
    this.#model.setService(service);
  }

  setEndpointSlice(slice: EndpointSlice): void {
    this.#model.setEndpointSlice(slice);
  }

  deleteService(key: string): void {
    this.#model.deleteService(key);
  }

  deleteEndpointSlice(key: string): void {
    this.#model.deleteEndpointSlice(key);
  }

  async sync(settings: Partial<ModeSettings> = {}): Promise<void> {
    await this.#mode.sync(this.#family, this.#planner.update(this.#model.take()), { ...this.#settings, ...settings });
  }

  /** Waits for what was begun, and removes what nobody uses any more. */
  settle(): Promise<void> {
    return this.#mode.settle();
  }

  setAside(): readonly SetAside[] {
    return this.#mode.setAside();
  }

  connections(): ReturnType<NftablesMode['connections']> {
    return this.#mode.connections();
  }

  /** A new process on the same objects. */
  async restart(countConnections = this.#countConnections): Promise<void> {
    await this.#mode.close();
    this.#countConnections = countConnections;
    this.#mode = this.#open();
    const plans = { added: [...this.#planner.plans()], updated: [], removed: [] };
    await this.#mode.sync(this.#family, plans, this.#settings);
  }

  close(): Promise<void> {
    return this.#mode.close();
  }

  #open(): NftablesMode {
    const events: ModeEvents = {
      progress: (family, done, of) => this.told.push(`progress ${family} ${done}/${of}`),
      setAside: port => this.refused.push(port),
      driftRepaired: (_family, what) => this.told.push(`repaired: ${what}`),
      measured: () => {},
      noticed: (_family, what) => this.told.push(`noticed: ${what}`),
      failed: (what, error) => this.told.push(`failed: ${what}: ${error}`),
    };
    return new NftablesMode({ namespace: this.namespace, events, countConnections: this.#countConnections });
  }

  #plans(): [Model, Planner] {
    const model = new Model({ family: this.#family, nodeName: 'node-a', startedAt: 0, report: () => {} });
    const options: PlanOptions = {
      node: { name: 'node-a', zone: 'zone-a' },
      nodeIP: '192.168.0.2' as Ip,
      localDetector: DETECTOR,
      masqueradeAll: false,
      allowExternalIPs: true,
    };
    return [model, new Planner(model, options)];
  }
}

/** Runs nft in the namespace and returns what it printed; throws if it failed. */
export function nft(namespace: NetworkNamespace, ...args: string[]): string {
  const { status, stdout, stderr } = namespace.run(() => spawnSync('nft', args, { encoding: 'utf8' }));
  if (status !== 0) throw new Error(`nft ${args.join(' ')}: ${stderr}`);
  return stdout;
}

/**
 * The ruleset in an order that does not depend on history: objects by name, elements by text. Comments of tables and sets
 * are left out, for a kernel ignores them when it has the object already.
 */
export function canonicalRuleset(namespace: NetworkNamespace): string {
  const sortElements = (_: string, elements: string) => {
    const texts = elements.split(',').map(text => text.trim());
    return `elements = { ${texts.sort().join(', ')} }`;
  };
  const blocks = nft(namespace, 'list', 'ruleset')
    .replaceAll(/^\t+comment .*\n/gm, '')
    .replaceAll(/elements = \{([^}]*)\}/g, sortElements)
    .replaceAll(/^table .* \{$/gm, '$&\n')
    // The end of a table, or else its last object would differ from the same one elsewhere.
    .replaceAll(/^\}$/gm, '')
    .split('\n\n');
  return blocks
    .map(block => block.trim())
    .sort()
    .join('\n\n');
}

export function generation(namespace: NetworkNamespace): number {
  const socket = NftablesSocket.open({ namespace });
  try {
    return socket.generation();
  } finally {
    socket.close();
  }
}

export async function until(isTrue: () => boolean, milliseconds: number): Promise<boolean> {
  const end = performance.now() + milliseconds;
  while (performance.now() < end) {
    if (isTrue()) return true;
    await delay(5);
  }
  return isTrue();
}
