import type { Iptables } from '../../../kernel/iptables/index.ts';
import { ReportOnce } from '../../../lib/report-once.ts';
import type { Family } from '../../../net/index.ts';
import type { ModeMachine } from '../../descriptor.ts';
import type { ModeSettings } from '../../mode.ts';
import type { CounterName, MachineOptions } from '../rules/rule-options.ts';
import { otherBackendNotice } from './other-backend.ts';
import { ensurePacketCounters } from './packet-counters.ts';
import {
  hasLocalhostNodePorts,
  isTcpLiberal,
  loopbackNotice,
  ROUTE_LOCALNET_NOTICE,
  routeLocalnet,
  TCP_LIBERAL_NOTICE,
} from './sysctls.ts';

const LOST_TURNS_NOTICE =
  'iptables-legacy forgets at every write whose turn it is, so Services with the algorithm round-robin get random endpoints';

export interface MachineStateOptions extends ModeMachine {
  readonly family: Family;
  readonly iptables: Iptables;
  /** The setting of the configuration. */
  readonly localhostNodePorts: boolean;
  readonly keepNodeSourcePorts: boolean;
  notice(message: string): void;
}

/** What rules depend on that only this machine knows. Changes settings of the kernel that rules need. */
export class MachineState {
  readonly #options: MachineStateOptions;
  readonly #isTcpLiberal: boolean;
  readonly #notices = new ReportOnce();
  #counters: ReadonlySet<CounterName> = new Set();
  #isLocalnetRouted = false;

  constructor(options: MachineStateOptions) {
    this.#options = options;
    this.#isTcpLiberal = isTcpLiberal(options.namespace);
  }

  options({ nodePortAddresses }: ModeSettings): MachineOptions {
    const { family, iptables, localhostNodePorts, keepNodeSourcePorts } = this.#options;
    return {
      localhostNodePorts: hasLocalhostNodePorts(family, localhostNodePorts, nodePortAddresses),
      tcpLiberal: this.#isTcpLiberal,
      randomFully: iptables.features.randomFully,
      keepsTurns: iptables.backend === 'nf_tables',
      keepsNodeSourcePorts: keepNodeSourcePorts,
      counters: this.#counters,
    };
  }

  async ensurePacketCounters(): Promise<void> {
    const { iptables, namespace } = this.#options;
    this.#counters = await ensurePacketCounters(iptables, namespace, message => this.#notice(message));
  }

  /** Changes the kernel's settings before rules that need them are written. */
  prepare(settings: ModeSettings): void {
    const { family, namespace } = this.#options;
    const { localhostNodePorts, tcpLiberal } = this.options(settings);
    if (localhostNodePorts && !this.#isLocalnetRouted) {
      if (routeLocalnet(namespace) === 'changed') this.#notice(ROUTE_LOCALNET_NOTICE);
      this.#isLocalnetRouted = true;
    }
    if (tcpLiberal) this.#notice(TCP_LIBERAL_NOTICE);
    this.#notice(loopbackNotice(family, settings, localhostNodePorts));
  }

  noticeLostTurns(): void {
    if (this.#options.iptables.backend === 'legacy') this.#notice(LOST_TURNS_NOTICE);
  }

  async noticeOtherBackend(): Promise<void> {
    const { iptables, namespace, programs } = this.#options;
    this.#notice(await otherBackendNotice(iptables, { ...programs, namespace }));
  }

  #notice(message: string | undefined): void {
    if (message !== undefined && this.#notices.add(message, message)) this.#options.notice(message);
  }
}
