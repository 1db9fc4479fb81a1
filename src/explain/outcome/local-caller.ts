import type { LocalDetector } from '../../model/index.ts';
import { cidrContains, formatCidr } from '../../net/index.ts';
import type { Caller } from '../caller.ts';

/** Whether the caller counts as a pod of this node for the rules. A source range also matches pods of other nodes. */
export function isDetectedPod(
  { place, ip, isOnOtherNode = false }: Caller,
  detector: LocalDetector | undefined,
): boolean {
  if (place === 'node' || !detector) return false;
  if (detector.kind === 'source-cidr') return cidrContains(detector.cidr, ip);
  return place === 'pod' && !isOnOtherNode;
}

/** Whether all packets between the caller and an endpoint pass through this node. */
export function isBehindNode({ place, isOnOtherNode = false }: Caller): boolean {
  return place === 'node' || (place === 'pod' && !isOnOtherNode);
}

/** How rules recognise pods of this node: `by source range 10.244.0.0/16`. */
export function detectorText(detector: LocalDetector | undefined): string {
  switch (detector?.kind) {
    case undefined:
      return 'in no way';
    case 'source-cidr':
      return `by source range ${formatCidr(detector.cidr)}`;
    case 'interface':
      return `by interface ${detector.name}`;
    case 'interface-prefix':
      return `by interfaces whose names begin with ${detector.prefix}`;
  }
}
