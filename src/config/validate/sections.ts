import { goJson } from '../../lib/go-json.ts';
import { goQuote } from '../../lib/go-quote.ts';
import { cidrFamily, parseCidr } from '../../net/index.ts';
import type { Configuration, IpvsConfiguration, UserspaceConfiguration } from '../configuration.ts';
import { parsePortRange } from '../ports.ts';
import { validateCidrs, validateNotEmpty, validateNotNegative, validatePositive, validateRange } from './checks.ts';
import { type FieldError, invalid } from './field-error.ts';

/** Checks the section of the mode in use. Sections of other modes are not checked. */
export function validateModeSection(path: string, configuration: Configuration): FieldError[] {
  switch (configuration.mode) {
    case 'ipvs':
      return validateIpvs(`${path}.KubeProxyIPVSConfiguration`, configuration.ipvs);
    case 'ebpf':
    case 'nftables':
      return validateMasqueradeBit(`${path}.KubeProxyNFTablesConfiguration`, configuration.nftables);
    case 'userspace':
      return validateUserspace(path, configuration.userspace);
    default:
      return [];
  }
}

export function validateMasqueradeBit(
  path: string,
  section: { readonly masqueradeBit: number | undefined },
): FieldError[] {
  return validateRange(`${path}.MasqueradeBit`, section.masqueradeBit, 0, 31);
}

function validateIpvs(path: string, ipvs: IpvsConfiguration): FieldError[] {
  return [
    ...validateNotNegative(`${path}.TCPTimeout`, ipvs.tcpTimeout),
    ...validateNotNegative(`${path}.TCPFinTimeout`, ipvs.tcpFinTimeout),
    ...validateNotNegative(`${path}.UDPTimeout`, ipvs.udpTimeout),
    ...validateCidrs(`${path}.ExcludeCidrs`, ipvs.excludeCIDRs ?? [], 'must be a valid CIDR'),
  ];
}

function validateUserspace(path: string, { portRange, udpIdleTimeout }: UserspaceConfiguration): FieldError[] {
  const detail = 'must be a port, or a range such as 32768-60999 or 32768+100';
  return [
    ...(parsePortRange(portRange) ? [] : [invalid(`${path}.PortRange`, goQuote(portRange), detail)]),
    ...(udpIdleTimeout === undefined ? [] : validatePositive(`${path}.UDPIdleTimeout`, udpIdleTimeout)),
  ];
}

export function validateLinux(path: string, linux: Configuration['linux']): FieldError[] {
  const { conntrack, oomScoreAdj } = linux;
  const conntrackPath = `${path}.KubeProxyConntrackConfiguration`;
  return [
    ...validateNotNegative(`${conntrackPath}.MaxPerCore`, conntrack.maxPerCore),
    ...validateNotNegative(`${conntrackPath}.Min`, conntrack.min),
    ...validateNotNegative(`${conntrackPath}.TCPEstablishedTimeout`, conntrack.tcpEstablishedTimeout),
    ...validateNotNegative(`${conntrackPath}.TCPCloseWaitTimeout`, conntrack.tcpCloseWaitTimeout),
    ...validateNotNegative(`${conntrackPath}.UDPTimeout`, conntrack.udpTimeout),
    ...validateNotNegative(`${conntrackPath}.UDPStreamTimeout`, conntrack.udpStreamTimeout),
    ...validateRange(`${path}.OOMScoreAdj`, oomScoreAdj, -1000, 1000),
  ];
}

const DETECT_LOCAL_MODES = ['ClusterCIDR', 'NodeCIDR', 'BridgeInterface', 'InterfaceNamePrefix', ''];

export function validateDetectLocalMode(path: string, mode: string): FieldError[] {
  if (DETECT_LOCAL_MODES.includes(mode)) return [];
  return [{ kind: 'unsupported', path, value: goQuote(mode), supported: DETECT_LOCAL_MODES }];
}

/** Checks only the field that the mode of local detection uses. */
export function validateDetectLocal(path: string, mode: string, local: Configuration['detectLocal']): FieldError[] {
  switch (mode) {
    case 'BridgeInterface':
      return validateNotEmpty(`${path}.InterfaceName`, local.bridgeInterface);
    case 'InterfaceNamePrefix':
      return validateNotEmpty(`${path}.InterfacePrefix`, local.interfaceNamePrefix);
    case 'ClusterCIDR':
      return local.clusterCIDRs.length === 0 ? [] : validateClusterCidrs(`${path}.ClusterCIDRs`, local.clusterCIDRs);
    default:
      return [];
  }
}

/** Accepts one CIDR, or one CIDR for each family. */
function validateClusterCidrs(path: string, cidrs: readonly string[]): FieldError[] {
  const detail =
    'must be a either a single CIDR or dual-stack pair of CIDRs (e.g. [10.100.0.0/16, fde4:8dba:82e1::/48]';
  const notAPair = invalid(path, goJson(cidrs), detail);
  if (cidrs.length > 2) return [notAPair];
  const wrong = validateCidrs(path, cidrs, 'must be a valid CIDR block (e.g. 10.100.0.0/16 or fde4:8dba:82e1::/48)');
  if (wrong.length > 0 || cidrs.length === 1) return wrong;
  const families = new Set(cidrs.map(parseCidr).flatMap(cidr => (cidr === undefined ? [] : [cidrFamily(cidr)])));
  return families.size === 2 ? [] : [notAPair];
}
