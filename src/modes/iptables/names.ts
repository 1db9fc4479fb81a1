import { createHash } from 'node:crypto';
import { base32 } from '../../lib/base32.ts';
import type { Endpoint } from '../../model/index.ts';
import { planName, type ServicePortPlan } from '../../plan/index.ts';

/** The chains that do not belong to one service port. */
export const Chain = {
  SERVICES: 'KUBE-SERVICES',
  EXTERNAL_SERVICES: 'KUBE-EXTERNAL-SERVICES',
  NODEPORTS: 'KUBE-NODEPORTS',
  POSTROUTING: 'KUBE-POSTROUTING',
  MARK_MASQ: 'KUBE-MARK-MASQ',
  FORWARD: 'KUBE-FORWARD',
  PROXY_FIREWALL: 'KUBE-PROXY-FIREWALL',
  /** The kubelet uses this chain too. */
  FIREWALL: 'KUBE-FIREWALL',
  CANARY: 'KUBE-PROXY-CANARY',
} as const;

/** Chains that exist only while iptables tests rules for the mode. A process that is killed leaves them behind. */
export const TRIAL_CHAIN = 'KUBE-PROXY-TRIAL';
export const PROBE_CHAIN = 'KUBE-PROXY-PROBE';

/**
 * How the names of a service port's chains begin, in the order in which the chains can be deleted: a chain comes before
 * the chains that it jumps to. Every chain in nat whose name begins like this counts as ours.
 */
export const OWN_PREFIXES = ['KUBE-FW-', 'KUBE-EXT-', 'KUBE-SVC-', 'KUBE-SVL-', 'KUBE-SEP-'] as const;

export function isOwnChain(name: string): boolean {
  return OWN_PREFIXES.some(prefix => name.startsWith(prefix));
}

export interface ServicePortChains {
  /** For policy Cluster. */
  readonly svc: string;
  /** For policy Local. */
  readonly svl: string;
  /** For traffic to addresses other than the cluster IP. */
  readonly ext: string;
  /** For load-balancer IPs with source ranges. */
  readonly fw: string;
  sep(endpoint: Endpoint): string;
}

export function chainsOf(plan: ServicePortPlan): ServicePortChains {
  const key = `${planName(plan)}${plan.port.protocol.toLowerCase()}`;
  const hash = hashOf(key);
  const seps = new Map<Endpoint, string>();
  return {
    svc: `KUBE-SVC-${hash}`,
    svl: `KUBE-SVL-${hash}`,
    ext: `KUBE-EXT-${hash}`,
    fw: `KUBE-FW-${hash}`,
    sep: endpoint => {
      const known = seps.get(endpoint);
      if (known !== undefined) return known;
      const name = `KUBE-SEP-${hashOf(`${key}${endpoint.text}`)}`;
      seps.set(endpoint, name);
      return name;
    },
  };
}

/** Ten bytes make sixteen characters. */
function hashOf(text: string): string {
  return base32(createHash('sha256').update(text).digest().subarray(0, 10));
}
