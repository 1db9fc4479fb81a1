import type { Iptables } from '../../../kernel/iptables/index.ts';
import { printKey } from '../../../kernel/ipvs/index.ts';
import type { Cidr, Family } from '../../../net/index.ts';
import type { ModeEvents, ModeSettings } from '../../mode.ts';
import { AddressTable } from './address-table.ts';
import { ownerOf } from './ownership.ts';
import { RuleWriter } from '../rules/rule-table.ts';
import { countRules, type RuleInput, TABLES } from '../rules/rule-text.ts';
import { ServerTable } from './server-table.ts';
import { SetTable } from './set-table.ts';
import { SET_KEYS, type SetKey } from '../names.ts';
import type { Sockets } from './sockets.ts';
import type { Touched, Wanted } from '../wanted/wanted-objects.ts';
import { type Measured, type Refused, Written } from './write-report.ts';

export interface FamilyTablesOptions {
  readonly family: Family;
  readonly excludeCIDRs: readonly Cidr[];
  readonly iptables: Iptables;
  readonly events: ModeEvents;
}

/** All that the kernel has of one family: sets, addresses of kube-ipvs0, virtual servers and rules. */
export class FamilyTables {
  readonly #options: FamilyTablesOptions;
  readonly #sets: SetTable;
  readonly #addresses: AddressTable;
  readonly #servers: ServerTable;
  readonly #rules: RuleWriter;

  constructor(options: FamilyTablesOptions, sockets: Sockets) {
    const { family, events, iptables } = options;
    const measured: Measured = (objects, milliseconds) =>
      events.measured(family, { kind: 'batch', objects, milliseconds });
    this.#options = options;
    this.#sets = new SetTable(sockets.ipset, family, measured);
    this.#addresses = new AddressTable(sockets.route, family, measured);
    this.#servers = new ServerTable(sockets.ipvs, family, measured);
    this.#rules = new RuleWriter(iptables, measured, what => events.noticed(family, what));
  }

  get isDraining(): boolean {
    return this.#servers.isDraining;
  }

  /** Whether a chain of this name was there before anything was written. */
  hadChain(chain: string): boolean {
    return this.#rules.hadChain(chain);
  }

  /** Whether kube-ipvs0 has the address, as far as we know. */
  hasAddress(ip: string): boolean {
    return this.#addresses.has(ip);
  }

  /** Reads everything; sets that are missing are made. `nodeIPs` are all addresses of the other links. */
  async read(wanted: Wanted, nodeIPs: ReadonlySet<string>, written: Written): Promise<void> {
    const { excludeCIDRs } = this.#options;
    const sets = this.#sets;
    const addresses = this.#addresses;
    await sets.read(written);
    addresses.read();
    const found = {
      hasElement: sets.has.bind(sets),
      hasAddress: addresses.has.bind(addresses),
      isNodeIP: nodeIPs.has.bind(nodeIPs),
    };
    await this.#servers.read(key => (wanted.server(printKey(key)) ? 'us' : ownerOf(key, found, excludeCIDRs)));
    await this.#rules.read();
  }

  /** All that is wanted or there. */
  everything(wanted: Wanted): Touched {
    const elements = new Map(
      SET_KEYS.map((set): [SetKey, Set<string>] => [
        set,
        new Set([...wanted.elementTexts(set), ...this.#sets.texts(set)]),
      ]),
    );
    for (const ip of this.#addresses.ips()) elements.get('ipvsIPs')?.add(ip);
    return { servers: new Set([...wanted.serverIds(), ...this.#servers.ids()]), elements };
  }

  /** In an order in which nothing is missing that a packet needs, and what is ours can be told at any time. */
  async write(
    { servers, elements }: Touched,
    wanted: Wanted,
    settings: ModeSettings,
    written: Written,
  ): Promise<readonly Refused[]> {
    const { family, events } = this.#options;
    const ips = elements.get('ipvsIPs') ?? [];
    const progress = (done: number, of: number) => events.progress(family, done, of);
    const refusedElements = await this.#sets.add(elements, wanted, written);
    const refused = [
      ...(await this.#addresses.add(ips, wanted, written)),
      ...(await this.#servers.write(servers, { wanted, written, progress })),
    ];
    await this.#writeRules(wanted, settings, written);
    refused.push(
      ...(await this.#addresses.remove(ips, wanted, written)),
      ...(await this.#sets.remove(elements, wanted, written)),
    );
    // A set that was full may have room by now.
    if (refusedElements.length > 0) refused.push(...(await this.#sets.add(elements, wanted, written)));
    return refused;
  }

  /** Others may use our sets too; that is noticed once and then known. */
  noteReferences(): void {
    this.#sets.noteReferences();
  }

  /** What somebody else did to ours, as far as a few questions tell. */
  drift(): string | undefined {
    return this.#servers.isThere() ? this.#sets.drift() : 'virtual servers are gone';
  }

  /** Removes real servers whose last connection ended. */
  drain(wanted: Wanted): Promise<void> {
    return this.#servers.drain(wanted, new Written());
  }

  async #writeRules(wanted: Wanted, settings: ModeSettings, written: Written): Promise<void> {
    const { family, events } = this.#options;
    const taken = await this.#rules.write(this.#ruleInput(wanted, settings), written);
    if (!taken) return;
    this.#sets.noteReferences();
    for (const table of TABLES) {
      const total = countRules(taken, table);
      events.measured(family, { kind: 'rules', table, total, last: total });
    }
  }

  #ruleInput(wanted: Wanted, { localDetector, masqueradeAll, masqueradeMark }: ModeSettings): RuleInput {
    return {
      family: this.#options.family,
      localDetector,
      masqueradeAll,
      masqueradeMark,
      randomFully: this.#rules.randomFully,
      used: new Set(SET_KEYS.filter(set => !wanted.isEmpty(set))),
      drops: wanted.drops(),
    };
  }
}
