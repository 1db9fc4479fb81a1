import type { RouteType } from '../../kernel/rtnetlink/index.ts';
import type { Family, Ip } from '../../net/index.ts';
import type { Packet } from '../packet.ts';
import type { PacketPath, PathHook } from './finding.ts';
import type { Interface, Routing } from './routing.ts';

/** What a rule sees of the packet, as far as it is known. */
export interface PacketView {
  readonly family: Family;
  readonly protocol: Packet['protocol'];
  readonly hook: PathHook;
  /** Undefined if it is not known. */
  readonly source: Ip | undefined;
  readonly destination: Ip;
  readonly port: number;
  /** The address and port that the caller called. */
  readonly original: { readonly ip: Ip; readonly port: number };
  readonly isFromNode: boolean;
  readonly isTranslated: boolean;
  /** Connection tracking has seen the packet. Before that its state counts as invalid. */
  readonly isTracked: boolean;
  readonly input: Interface | 'none' | 'unknown';
  readonly output: Interface | 'none' | 'unknown';
  /** What the routing table says of the destination. Undefined if it has no route. */
  readonly destinationType: RouteType | undefined;
}

/** A hook on the packet's way. */
export interface Stage {
  readonly hook: PathHook;
  /** What a base chain of this priority sees. */
  view(priority: number): PacketView;
}

/** The priorities at which the kernel looks up the connection, and translates destination and source. */
const CONNTRACK = -200;
const DESTINATION_NAT = -100;
const SOURCE_NAT = 100;

/** The hooks that the packet comes through, in order. */
export function stagesOf(path: PacketPath, routing: Routing): readonly Stage[] {
  const stage = (hook: PathHook, when: 'before' | 'here' | 'after', links: Pick<PacketView, 'input' | 'output'>) => ({
    hook,
    view: (priority: number) => viewOf(path, routing, { hook, when, priority, ...links }),
  });
  const { lo } = routing;
  const output = routing.target?.link ?? 'unknown';
  const isLocal = routing.target?.type === 'local';
  if (!path.isFromNode) {
    const arrival = stage('prerouting', 'here', { input: 'unknown', output: 'none' });
    if (isLocal) return [arrival, stage('input', 'after', { input: 'unknown', output: 'none' })];
    return [
      arrival,
      stage('forward', 'after', { input: 'unknown', output }),
      // Before Linux 5.4 rules of postrouting do not see the input interface.
      stage('postrouting', 'after', { input: 'unknown', output }),
    ];
  }
  const start = [
    stage('output', 'here', { input: 'none', output }),
    stage('postrouting', 'after', { input: 'none', output }),
  ];
  if (!isLocal) return start;
  const links = { input: lo, output: 'none' } as const;
  return [...start, stage('prerouting', 'after', links), stage('input', 'after', links)];
}

interface Place extends Pick<PacketView, 'hook' | 'input' | 'output'> {
  /** Where the proxy translates the destination: at an earlier hook, at this hook, or at a later hook. */
  readonly when: 'before' | 'here' | 'after';
  readonly priority: number;
}

function viewOf(path: PacketPath, routing: Routing, place: Place): PacketView {
  const { packet, endpoint, isFromNode } = path;
  const { hook, when, priority, input } = place;
  const isTranslated = endpoint !== undefined && (when === 'after' || (when === 'here' && priority > DESTINATION_NAT));
  const original = { ip: packet.destination, port: packet.port };
  const { ip, port } = isTranslated ? endpoint : original;
  // The kernel routes a packet of the node by its first destination. After the translation it routes again.
  const isRerouted = hook !== 'output' || isTranslated;
  const output = isRerouted ? place.output : (routing.original?.link ?? 'unknown');
  return {
    family: packet.family,
    protocol: packet.protocol,
    hook,
    source: hook === 'postrouting' && priority > SOURCE_NAT ? undefined : packet.source,
    destination: ip,
    port,
    original,
    isFromNode,
    isTranslated,
    isTracked: (hook !== 'prerouting' && hook !== 'output') || priority > CONNTRACK,
    input,
    output,
    destinationType: (isTranslated ? routing.target : routing.original)?.type,
  };
}
