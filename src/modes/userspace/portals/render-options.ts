import { type Cidr, type Family, formatCidr, type Ip, isUnspecified } from '../../../net/index.ts';
import type { ModeSettings } from '../../mode.ts';
import { oneAddress, type RenderOptions } from '../render.ts';

const LOOPBACK: Cidr = { address: '127.0.0.0' as Ip, prefix: 8 };

/** What rules depend on besides the plans. */
export function renderOptions(
  family: Family,
  { localDetector, nodePortAddresses, nodePortIPs }: ModeSettings,
  listenIP: Ip,
  hostIP: Ip | undefined,
): RenderOptions {
  const loopback = nodePortAddresses.containsIPv4Loopback ? [LOOPBACK] : [];
  return {
    family,
    localDetector,
    nodePortRanges: nodePortAddresses.matchAll ? undefined : [...nodePortIPs.map(oneAddress), ...loopback],
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
