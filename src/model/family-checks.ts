import { cidrFamily, type Family, familyOf, isUnspecified, otherFamily, parseCidr, parseIp } from '../net/index.ts';

/** The settings whose address families must fit the node. */
export interface FamilyConfig {
  readonly primary: Family;
  /** The kernel and its programs support both families. */
  readonly dualStack: boolean;
  readonly detectLocalMode: string;
  readonly clusterCIDRs: readonly string[];
  readonly podCIDRs: readonly string[];
  readonly nodePortAddresses: readonly string[];
  readonly ipvsExcludeCIDRs: readonly string[];
  readonly healthzBindAddress: string;
  readonly metricsBindAddress: string;
}

export interface FamilyFinding {
  readonly message: string;
  /** The proxy cannot start. */
  readonly fatal: boolean;
}

/** Checks that node ports are accepted where the operator expects them. */
export function checkNodePortAddresses(config: FamilyConfig): readonly FamilyFinding[] {
  const { primary, nodePortAddresses } = config;
  const warn = (message: string): FamilyFinding[] => [{ message, fatal: false }];
  if (nodePortAddresses.length === 0) {
    return warn(
      'nodePortAddresses is unset; NodePort connections will be accepted on all local IPs. Consider using `--nodeport-addresses primary`',
    );
  }
  const lists = [config.clusterCIDRs, nodePortAddresses, config.ipvsExcludeCIDRs, config.podCIDRs];
  const families = familiesOf(nodePortAddresses);
  if (lists.some(list => familiesOf(list).size === 2) && isOnly(families, primary)) {
    return warn(
      `cluster appears to be dual-stack but nodePortAddresses contains only ${primary} addresses; NodePort connections will be accepted on all local ${otherFamily(primary)} IPs`,
    );
  }
  if (!families.has(primary)) {
    return warn(
      `cluster appears to be ${primary}-primary but nodePortAddresses contains only ${otherFamily(primary)} addresses; NodePort connections will be accepted on all local ${primary} IPs`,
    );
  }
  return [];
}

/** Checks that ranges and addresses have a family that this node supports. */
export function checkFamilies(config: FamilyConfig): readonly FamilyFinding[] {
  const { primary, dualStack, detectLocalMode } = config;
  const kind = `${primary}-${dualStack ? 'primary' : 'only'}`;
  const findings: FamilyFinding[] = [];
  const find = (name: string, wrong: boolean, fatal: boolean) => {
    if (!wrong) return;
    findings.push({ message: `cluster is ${kind} but ${name} only ${otherFamily(primary)} addresses`, fatal });
  };
  const wrongList = (list: readonly string[]) => isOnly(familiesOf(list), otherFamily(primary));
  find('clusterCIDRs contains', wrongList(config.clusterCIDRs), detectLocalMode === 'ClusterCIDR' && !dualStack);
  find('node.spec.podCIDRs contains', wrongList(config.podCIDRs), detectLocalMode === 'NodeCIDR');
  if (dualStack) return findings;
  find('ipvs.excludeCIDRs contains', wrongList(config.ipvsExcludeCIDRs), false);
  find('healthzBindAddress is of', isWrongAddress(config.healthzBindAddress, primary), false);
  find('metricsBindAddress is of', isWrongAddress(config.metricsBindAddress, primary), false);
  return findings;
}

function familiesOf(texts: readonly string[]): ReadonlySet<Family> {
  return new Set(texts.flatMap(text => parseCidr(text) ?? []).map(cidrFamily));
}

function isOnly(families: ReadonlySet<Family>, family: Family): boolean {
  return families.size === 1 && families.has(family);
}

function isWrongAddress(address: string, primary: Family): boolean {
  const ip = parseIp(hostOf(address));
  return ip !== undefined && !isUnspecified(ip) && familyOf(ip) !== primary;
}

/** The host of `host:port` or `[host]:port`, or the address itself. */
function hostOf(address: string): string {
  if (parseIp(address) !== undefined) return address;
  return address.slice(0, Math.max(0, address.lastIndexOf(':'))).replace(/^\[(.*)\]$/, '$1');
}
