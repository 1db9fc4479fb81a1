import type { Iptables, IptablesRun } from '../../kernel/iptables/index.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { Turns } from '../../lib/turns.ts';
import type { Family } from '../../net/index.ts';
import { type PlanDiff, reachableEndpoints, type ServicePortPlan } from '../../plan/index.ts';
import { openIptables, type ProgramOptions } from '../iptables-programs.ts';
import {
  type Mode,
  type ModeEvents,
  type ModeSettings,
  type SetAside,
  SYNC_PERIOD_MS,
  type SyncReport,
} from '../mode.ts';
import { OwedPlans } from '../owed-plans.ts';
import { ensureCounters } from './counters.ts';
import { FamilyRules } from './family-rules.ts';
import {
  hasLocalhostNodePorts,
  isTcpLiberal,
  loopbackNotice,
  ROUTE_LOCALNET_NOTICE,
  routeLocalnet,
  TCP_LIBERAL_NOTICE,
} from './machine.ts';
import { otherBackendNotice } from './other-backend.ts';
import { longLockWait } from './programs.ts';
import { type CounterName, type MachineOptions, ruleOptions } from './rule-options.ts';
import { Upkeep } from './upkeep.ts';

export interface IptablesModeOptions extends ProgramOptions {
  readonly clock?: Clock;
  readonly events: ModeEvents;
  /** Whether node ports answer at 127.0.0.1 too, where their addresses include it. They do unless told. */
  readonly localhostNodePorts?: boolean | undefined;
}

/** One family: its programs, its rules, and what is known of the machine. */
interface Part {
  readonly family: Family;
  readonly iptables: Iptables;
  readonly rules: FamilyRules;
  readonly told: Set<string>;
  settings: ModeSettings;
  counters: ReadonlySet<CounterName>;
  /** Set once everything was written. */
  upkeep?: Upkeep;
}

/** iptables mode: kube-proxy's classic chains, written with iptables-restore. */
export class IptablesMode implements Mode {
  readonly #options: IptablesModeOptions;
  readonly #clock: Clock;
  readonly #events: ModeEvents;
  readonly #localhostNodePorts: boolean;
  /** The legacy programs of both families have one lock, so one program runs at a time. */
  readonly #turns = new Turns();
  readonly #parts = new Map<Family, Part>();
  readonly #endpoints = new Map<Family, EndpointCount>();
  readonly #owed = new OwedPlans();
  readonly #work = new Turns();
  #isTcpLiberal: boolean | undefined;
  #isLocalnetRouted = false;
  #closed = false;

  constructor(options: IptablesModeOptions) {
    const { clock = systemClock, events, localhostNodePorts = true } = options;
    this.#options = options;
    this.#clock = clock;
    this.#events = events;
    this.#localhostNodePorts = localhostNodePorts;
  }

  sync(family: Family, plans: PlanDiff, settings: ModeSettings): Promise<SyncReport> {
    return this.#work.take(async () => {
      this.#owed.add(family, plans);
      const part = await this.#part(family, settings);
      part.settings = settings;
      for (const owed of this.#owed.take(family)) {
        part.rules.want(owed);
        this.#count(family).note(owed);
      }
      return this.#write(part);
    });
  }

  setAside(): readonly SetAside[] {
    return [...this.#parts.values()].flatMap(({ rules }) => rules.setAside);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#parts.values()].map(({ upkeep }) => upkeep?.close()));
    await this.#work.done;
  }

  async #part(family: Family, settings: ModeSettings): Promise<Part> {
    const known = this.#parts.get(family);
    if (known) return known;
    const onRun = (run: IptablesRun) => {
      const wait = longLockWait(run);
      if (wait !== undefined) this.#events.noticed(family, wait);
    };
    const iptables = await openIptables(family, this.#options, { turns: this.#turns, onRun });
    const counters: ReadonlySet<CounterName> = new Set();
    const options = ruleOptions(family, settings, this.#machine(family, settings, iptables, counters));
    const rules = new FamilyRules(family, iptables, options, this.#events, () => this.#clock.elapsed());
    const part: Part = { family, iptables, rules, told: new Set(), settings, counters };
    this.#parts.set(family, part);
    return part;
  }

  async #write(part: Part): Promise<SyncReport> {
    const { family, rules, iptables, settings, told } = part;
    const tell = (what: string | undefined) => {
      if (what === undefined || told.has(what)) return;
      told.add(what);
      this.#events.noticed(family, what);
    };
    if (rules.isFull) part.counters = await ensureCounters(iptables, this.#options.namespace, tell);
    const machine = this.#machine(family, settings, iptables, part.counters);
    if (machine.localhostNodePorts) this.#routeLocalnet(tell);
    if (machine.tcpLiberal) tell(TCP_LIBERAL_NOTICE);
    tell(loopbackNotice(family, settings, machine.localhostNodePorts));
    rules.setOptions(ruleOptions(family, settings, machine));
    const report = await rules.sync(settings.endpointCount?.() ?? this.#count(family).total);
    this.#follow(part, tell);
    return report;
  }

  #machine(
    family: Family,
    { nodePortAddresses }: ModeSettings,
    { features }: Iptables,
    counters: ReadonlySet<CounterName>,
  ): MachineOptions {
    this.#isTcpLiberal ??= isTcpLiberal(this.#options.namespace);
    return {
      localhostNodePorts: hasLocalhostNodePorts(family, this.#localhostNodePorts, nodePortAddresses),
      tcpLiberal: this.#isTcpLiberal,
      randomFully: features.randomFully,
      counters,
    };
  }

  #routeLocalnet(tell: (what: string) => void): void {
    if (this.#isLocalnetRouted) return;
    if (routeLocalnet(this.#options.namespace) === 'changed') tell(ROUTE_LOCALNET_NOTICE);
    this.#isLocalnetRouted = true;
  }

  /** What begins once everything was written, and goes on at the pace that is asked for. */
  #follow(part: Part, tell: (what: string | undefined) => void): void {
    const { family, iptables, rules, settings, upkeep } = part;
    const { syncPeriodMs = SYNC_PERIOD_MS } = settings;
    upkeep?.setPeriod(syncPeriodMs);
    if (upkeep || this.#closed) return;
    part.upkeep = new Upkeep(syncPeriodMs, {
      iptables,
      clock: this.#clock,
      missing: () => this.#work.take(() => rules.missing()),
      rewrite: reason => this.#rewrite(part, reason),
      noticed: what => this.#events.noticed(family, what),
      failed: error => this.#events.failed(`looking after the ${family} rules`, error, family),
    });
    this.#work
      .take(async () => tell(await otherBackendNotice(iptables, this.#options)))
      .catch(error => this.#events.failed('looking for rules of the other iptables backend', error));
  }

  #rewrite(part: Part, reason: string): Promise<void> {
    return this.#work.take(async () => {
      part.rules.doubt();
      await this.#write(part);
      this.#events.driftRepaired(part.family, `${reason}; wrote all anew`);
    });
  }

  #count(family: Family): EndpointCount {
    const known = this.#endpoints.get(family);
    if (known) return known;
    const count = new EndpointCount();
    this.#endpoints.set(family, count);
    return count;
  }
}

/** How many endpoints plans use. */
class EndpointCount {
  total = 0;

  note({ added, updated, removed }: PlanDiff): void {
    const count = (plan: ServicePortPlan) => reachableEndpoints(plan.endpoints).length;
    for (const plan of added) this.total += count(plan);
    for (const { from, to } of updated) this.total += count(to) - count(from);
    for (const plan of removed) this.total -= count(plan);
  }
}
