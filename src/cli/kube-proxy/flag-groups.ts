import type { FlagTable } from '../flags/index.ts';
import { KUBE_PROXY_FLAGS, OWN_FLAGS } from './flags/index.ts';

export interface FlagGroup {
  readonly title: string;
  readonly flags: FlagTable;
}

const IPVS = ['ipvs-scheduler', 'ipvs-exclude-cidrs', 'ipvs-strict-arp', 'ipvs-*-timeout'];

/** What an operator looks for, and the flags for it. `*` stands for any letters. */
const GROUPS: readonly [title: string, names: readonly string[]][] = [
  ['Configuration', ['config', 'manifests', 'feature-gates']],
  [
    'Mode',
    [
      'proxy-mode',
      'masquerade-all',
      'iptables-masquerade-bit',
      ...IPVS,
      'ebpf-sockets',
      'cgroup-root',
      'default-balance',
      'count-connections',
      'keep-*',
    ],
  ],
  ['One task, then exit', ['write-config-to', 'init-only', 'cleanup', 'help', 'version']],
  ['API server', ['kubeconfig', 'master', 'kube-api-*']],
  ['Node and pods', ['hostname-override', 'bind-address', 'cluster-cidr', 'detect-local-mode', 'pod-*']],
  ['Node ports', ['nodeport-addresses', 'iptables-localhost-nodeports']],
  ['Timing', ['iptables-sync-period', 'iptables-min-sync-period', 'ipvs-*sync-period', 'config-sync-period']],
  ['Connection tracking', ['conntrack-*']],
  ['Health and metrics', ['healthz-*', 'metrics-*', 'bind-address-hard-fail', 'profiling', 'show-hidden-metrics-*']],
  ['Inspection', ['inspect-*']],
  ['Report to the cluster', ['report-*']],
  ["The operator's page", ['page-bind-address', 'page-*']],
  ['Log', ['v', 'vmodule', 'log*']],
  ['Other', ['*']],
];

/** All flags of kube-proxy in groups. Each flag is in the first group that names it, and deprecated flags in none. */
export function flagGroups(): readonly FlagGroup[] {
  const left = new Map(Object.entries(KUBE_PROXY_FLAGS as FlagTable).filter(([, { deprecated }]) => !deprecated));
  return GROUPS.map(([title, names]) => {
    const flags = names.flatMap(name => [...left].filter(([flag]) => matches(name, flag) && left.delete(flag)));
    return { title, flags: Object.fromEntries(flags.map(([name, flag]) => [name, withOrigin(name, flag)])) };
  }).filter(({ flags }) => Object.keys(flags).length > 0);
}

function matches(pattern: string, name: string): boolean {
  const [start = '', end] = pattern.split('*');
  return end === undefined ? name === pattern : name.startsWith(start) && name.endsWith(end);
}

/** Operators who also run upstream's kube-proxy must know which flags it does not have. */
function withOrigin(name: string, flag: FlagTable[string]): FlagTable[string] {
  return name in OWN_FLAGS ? { ...flag, usage: `${flag.usage} Only Pointsman has this flag.` } : flag;
}
