import type { IptablesFamily } from '../kernel/iptables/index.ts';
import type { LocalDetector } from '../model/index.ts';
import { type Family, formatCidr } from '../net/index.ts';

export function iptablesFamily(family: Family): IptablesFamily {
  return family === 'IPv4' ? 'ip' : 'ip6';
}

/** `0x00004000` */
export function markText(mark: number): string {
  return `0x${mark.toString(16).padStart(8, '0')}`;
}

/** Matches the traffic of this node's pods, or with `not` all other traffic. */
export function localMatch(detector: LocalDetector, not = false): string {
  const no = not ? '! ' : '';
  switch (detector.kind) {
    case 'source-cidr':
      return `${no}-s ${formatCidr(detector.cidr)}`;
    case 'interface':
      return `${no}-i ${detector.name}`;
    case 'interface-prefix':
      return `${no}-i ${detector.prefix}+`;
  }
}
