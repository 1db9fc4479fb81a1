import type { LocalDetector, NodePortAddresses } from '../../../model/index.ts';
import { type Family, type Ip, isLoopback } from '../../../net/index.ts';
import { markText } from '../../iptables-words.ts';
import type { ModeSettings } from '../../mode.ts';

/** What rules depend on besides the plans. */
export interface RuleOptions {
  readonly family: Family;
  /** `0x00004000` */
  readonly mark: string;
  readonly localDetector: LocalDetector | undefined;
  readonly nodePortAddresses: NodePortAddresses;
  /** The addresses of this machine that accept node ports, if not all do. */
  readonly nodePortIPs: readonly Ip[];
  readonly machine: MachineOptions;
}

/** What depends on the machine and on the options of the mode, not on settings that change or on the objects. */
export interface MachineOptions {
  /** Node ports also accept connections to 127.0.0.1. Never in IPv6. */
  readonly localhostNodePorts: boolean;
  /** The kernel treats packets outside of a connection's window as valid, so INVALID packets need not be dropped. */
  readonly tcpLiberal: boolean;
  /** The programs support `--random-fully`. */
  readonly randomFully: boolean;
  /** A restore leaves the counters of other rules alone. iptables-legacy replaces a whole table, and all start again. */
  readonly keepsTurns: boolean;
  /** Masqueraded TCP connections of node processes keep their source port if it is free. */
  readonly keepsNodeSourcePorts: boolean;
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

/** Whether all rules are the same with both, except those that depend on node port addresses. */
export function sameRules(a: RuleOptions, b: RuleOptions): boolean {
  const rules = ({ mark, localDetector, nodePortAddresses, machine }: RuleOptions) =>
    JSON.stringify([mark, localDetector, nodePortAddresses.matchAll, { ...machine, counters: [...machine.counters] }]);
  return rules(a) === rules(b);
}
