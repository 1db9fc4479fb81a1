import type { LocalDetector, NodePortAddresses } from '../../model/index.ts';
import { type Family, type Ip, isLoopback } from '../../net/index.ts';
import { markText } from '../iptables-words.ts';
import type { ModeSettings } from '../mode.ts';

/** What rules depend on besides the plans. */
export interface RuleOptions {
  readonly family: Family;
  /** `0x00004000` */
  readonly mark: string;
  readonly localDetector: LocalDetector | undefined;
  readonly nodePortAddresses: NodePortAddresses;
  /** This machine's addresses that accept node ports, where not all do. */
  readonly nodePortIPs: readonly Ip[];
  readonly machine: MachineOptions;
}

/** What follows from the machine rather than from the configuration or the objects. */
export interface MachineOptions {
  /** Node ports also answer at 127.0.0.1. Never in IPv6. */
  readonly localhostNodePorts: boolean;
  /** The kernel takes packets that are out of a connection's window for valid ones, so INVALID ones need no drop. */
  readonly tcpLiberal: boolean;
  /** The programs know `--random-fully`. */
  readonly randomFully: boolean;
  /** The nfacct counters that exist. */
  readonly counters: ReadonlySet<CounterName>;
}

export const COUNTER_NAMES = ['ct_state_invalid_dropped_pkts', 'localhost_nps_accepted_pkts'] as const;
export type CounterName = (typeof COUNTER_NAMES)[number];

export function ruleOptions(family: Family, settings: ModeSettings, machine: MachineOptions): RuleOptions {
  const { localDetector, nodePortAddresses, masqueradeMark } = settings;
  return {
    family,
    mark: markText(masqueradeMark),
    localDetector,
    nodePortAddresses,
    nodePortIPs: settings.nodePortIPs.filter(ip => machine.localhostNodePorts || !isLoopback(ip)),
    machine,
  };
}

/** Whether all rules are the same under both, those of node port addresses apart. */
export function sameRules(a: RuleOptions, b: RuleOptions): boolean {
  const rules = ({ mark, localDetector, nodePortAddresses, machine }: RuleOptions) =>
    JSON.stringify([mark, localDetector, nodePortAddresses.matchAll, { ...machine, counters: [...machine.counters] }]);
  return rules(a) === rules(b);
}
