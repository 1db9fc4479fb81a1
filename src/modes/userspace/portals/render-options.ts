import type { LocalDetector } from '../../../model/index.ts';
import {
  ANY_IP,
  type Cidr,
  type Family,
  familyOf,
  formatCidr,
  hostCidr,
  type Ip,
  isUnspecified,
} from '../../../net/index.ts';
import type { ModeSettings } from '../../mode.ts';

/** What the rules depend on besides the plans. */
export interface RenderOptions {
  readonly localDetector: LocalDetector | undefined;
  /** The addresses that accept node ports; undefined for every address of this machine. */
  readonly nodePortRanges: readonly Cidr[] | undefined;
  /** The address at which proxies listen; undefined for every address. */
  readonly listenIP: Ip | undefined;
  /** Where the node's own connections go if proxies listen at every address. Without it they stay on loopback. */
  readonly hostIP: Ip | undefined;
}

/** Where proxies of the family listen: at the configured address if it is of this family, otherwise everywhere. */
export function listenIPOf(family: Family, configured: Ip | undefined): Ip {
  return configured !== undefined && familyOf(configured) === family ? configured : ANY_IP[family];
}

const LOOPBACK: Cidr = { address: '127.0.0.0' as Ip, prefix: 8 };

export function renderOptions(
  { localDetector, nodePortAddresses, nodePortIPs }: ModeSettings,
  listenIP: Ip,
  hostIP: Ip | undefined,
): RenderOptions {
  const loopback = nodePortAddresses.containsIPv4Loopback ? [LOOPBACK] : [];
  return {
    localDetector,
    nodePortRanges: nodePortAddresses.matchAll ? undefined : [...nodePortIPs.map(hostCidr), ...loopback],
    listenIP: isUnspecified(listenIP) ? undefined : listenIP,
    hostIP,
  };
}

export function sameOptions(a: RenderOptions, b: RenderOptions): boolean {
  return optionsText(a) === optionsText(b);
}

function optionsText({ localDetector, nodePortRanges, listenIP, hostIP }: RenderOptions): string {
  return JSON.stringify([localDetector, nodePortRanges?.map(formatCidr), listenIP, hostIP]);
}
