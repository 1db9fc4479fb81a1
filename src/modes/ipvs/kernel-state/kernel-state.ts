import type { Iptables } from '../../../kernel/iptables/index.ts';
import { printKey } from '../../../kernel/ipvs/index.ts';
import type { Cidr, Family } from '../../../net/index.ts';
import type { ModeEvents, ModeSettings } from '../../mode.ts';
import type { KnownObjects } from '../diff.ts';
import { TABLES } from '../names.ts';
import { RuleTable } from '../rules/rule-table.ts';
import { ruleInput, rulesOf } from '../rules/rule-text.ts';
import type { ObjectNames, WantedObjects } from '../wanted/wanted-objects.ts';
import { AddressTable } from './address-table.ts';
import { ownerOf } from './ownership.ts';
import { type IpvsKernel, ServerTable } from './server-table.ts';
import { SetTable } from './set-table.ts';
import type { Sockets } from './sockets.ts';
import type { BatchObserver, RefusedObject, WriteSummary } from './write-report.ts';

export interface KernelStateOptions {
  readonly family: Family;
  /** The mode leaves virtual servers at these addresses alone, unless a Service is there. */
  readonly excludeCIDRs: readonly Cidr[];
  readonly iptables: Iptables;
  readonly events: Pick<ModeEvents, 'measured' | 'notice' | 'progress'>;
}

/** The part of the sockets that reads and writes. */
export interface KernelSockets extends Pick<Sockets, 'ipset' | 'route'> {
  readonly ipvs: IpvsKernel;
}

/**
 * What the kernel has of one family, as far as the mode knows: sets, addresses of kube-ipvs0, virtual servers, rules.
 */
export class KernelState {
  readonly sets: SetTable;
  readonly addresses: AddressTable;
  readonly servers: ServerTable;
  readonly rules: RuleTable;
  readonly #options: KernelStateOptions;

  constructor(options: KernelStateOptions, sockets: KernelSockets) {
    const { family, events, iptables } = options;
    const observe: BatchObserver = (objects, milliseconds) =>
      events.measured(family, { kind: 'batch', objects, milliseconds });
    this.#options = options;
    this.sets = new SetTable(sockets.ipset, family, observe);
    this.addresses = new AddressTable(sockets.route, family, observe);
    this.servers = new ServerTable(sockets.ipvs, family, observe);
    this.rules = new RuleTable(iptables, observe, message => events.notice(family, message));
  }

  /** Reads everything. `nodeIPs`: all addresses of the other links. */
  async read(wanted: WantedObjects, nodeIPs: ReadonlySet<string>): Promise<void> {
    await this.sets.read();
    this.addresses.read();
    const found = {
      hasElement: this.sets.has.bind(this.sets),
      hasAddress: (ip: string) => this.addresses.known.has(ip),
      isNodeIP: nodeIPs.has.bind(nodeIPs),
    };
    const { excludeCIDRs } = this.#options;
    await this.servers.read(key => (wanted.server(printKey(key)) ? 'us' : ownerOf(key, found, excludeCIDRs)));
    await this.rules.read();
  }

  get known(): KnownObjects {
    return { elements: this.sets.known, addresses: this.addresses.known, servers: this.servers.known };
  }

  async createMissing(summary: WriteSummary): Promise<void> {
    await this.sets.createMissing(summary);
    this.addresses.createLink();
  }

  /**
   * Writes the objects that differ, of those in `names`. In this order packets always find what they need, and another
   * process can see at any time which virtual servers belong to the mode.
   */
  async write(
    { servers, elements }: ObjectNames,
    wanted: WantedObjects,
    settings: ModeSettings,
    summary: WriteSummary,
  ): Promise<readonly RefusedObject[]> {
    const { family, events } = this.#options;
    const ips = elements.get('ipvsIPs') ?? [];
    const progress = (done: number, of: number) => events.progress(family, done, of);
    const refusedElements = await this.sets.add(elements, wanted, summary);
    const refused = [
      ...(await this.addresses.add(ips, wanted, summary)),
      ...(await this.servers.write(servers, { wanted, summary, progress })),
    ];
    await this.#writeRules(wanted, settings, summary);
    refused.push(
      ...(await this.addresses.remove(ips, wanted, summary)),
      ...(await this.sets.remove(elements, wanted, summary)),
    );
    // A set that was full may have room now.
    if (refusedElements.length > 0) refused.push(...(await this.sets.add(elements, wanted, summary)));
    return refused;
  }

  async #writeRules(wanted: WantedObjects, settings: ModeSettings, summary: WriteSummary): Promise<void> {
    const { family, events } = this.#options;
    const input = ruleInput(family, wanted, settings, this.rules.randomFully);
    const written = await this.rules.write(input, summary);
    if (!written) return;
    this.sets.noteReferences();
    const rules = rulesOf(written);
    for (const table of TABLES) {
      const total = rules[table].length;
      events.measured(family, { kind: 'rules', table, total, last: total });
    }
  }
}
