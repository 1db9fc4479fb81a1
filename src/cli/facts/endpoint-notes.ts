import { compareTexts } from '../../lib/compare-texts.ts';
import {
  type Cidr,
  cidrContains,
  FAMILIES,
  type Family,
  familyOf,
  formatCidr,
  type Ip,
  parseIp,
} from '../../net/index.ts';
import type { ProxyState } from '../../proxy/index.ts';
import type { Snapshot } from './snapshot.ts';

const MAX_NAMES = 5;

/** What the endpoints say about the settings and the Nodes. */
export function endpointNotes(snapshot: Snapshot, nodeName: string, state: ProxyState): readonly string[] {
  return [...unknownNodes(snapshot), ...FAMILIES.flatMap(family => podRangeNotes(family, snapshot, nodeName, state))];
}

/** A single Node in manifests is only the node that the operator asks about. The others may be left out. */
function unknownNodes({ origin, nodes, slices }: Snapshot): readonly string[] {
  if (nodes.size === 0 || (nodes.size === 1 && origin === 'manifests')) return [];
  const names = new Set<string>();
  for (const { endpoints } of slices.values()) {
    for (const { nodeName } of endpoints) if (nodeName && !nodes.has(nodeName)) names.add(nodeName);
  }
  if (names.size === 0) return [];
  const sorted = [...names].sort(compareTexts);
  const more = sorted.length > MAX_NAMES ? ` and ${sorted.length - MAX_NAMES} more` : '';
  return [`there are endpoints on nodes that do not exist: ${sorted.slice(0, MAX_NAMES).join(', ')}${more}`];
}

/** If no endpoint is in the range of the pods, the range is probably that of another cluster. */
function podRangeNotes(family: Family, snapshot: Snapshot, nodeName: string, state: ProxyState): readonly string[] {
  const detector = state.nodeOptions.families[family].localDetector;
  if (detector?.kind !== 'source-cidr') return [];
  const pods = podIPs(family, snapshot, isOfNode(detector.cidr, snapshot, nodeName) ? nodeName : undefined);
  if (pods.size === 0 || [...pods].some(ip => cidrContains(detector.cidr, ip))) return [];
  return [`no ${family} endpoint is in ${formatCidr(detector.cidr)}, the range of the pods: is the range right?`];
}

/** Whether the range is that of the pods of this node only. */
function isOfNode(cidr: Cidr, { nodes }: Snapshot, nodeName: string): boolean {
  return nodes.get(nodeName)?.podCIDRs.includes(formatCidr(cidr)) === true;
}

/** The addresses of endpoints that are no address of a node, on one node or on all. */
function podIPs(family: Family, { nodes, slices }: Snapshot, onNode: string | undefined): ReadonlySet<Ip> {
  const nodeIPs = new Set([...nodes.values()].flatMap(({ addresses }) => addresses.map(({ address }) => address)));
  const found = new Set<Ip>();
  for (const { endpoints, addressType } of slices.values()) {
    if (addressType !== family) continue;
    for (const { addresses, nodeName } of endpoints) {
      const ip = parseIp(addresses[0] ?? '');
      const isWanted = onNode === undefined || nodeName === onNode;
      if (ip !== undefined && isWanted && familyOf(ip) === family && !nodeIPs.has(ip)) found.add(ip);
    }
  }
  return found;
}
