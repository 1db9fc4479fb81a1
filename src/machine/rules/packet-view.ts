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
  /** The bits of the packet mark that are known. Undefined if none is. */
  readonly mark?: KnownMark | undefined;
  /** What the routing table says of the destination. Undefined if it has no route. */
  readonly destinationType: RouteType | undefined;
}

export interface KnownMark {
  /** A set bit means that this bit of the mark is known. */
  readonly mask: number;
  readonly value: number;
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

type Links = Pick<PacketView, 'input' | 'output'>;

/** Where a hook is on the way: before the destination is replaced, where rules replace it, or after it. */
type Part = 'before' | 'nat' | 'after';

/** The hooks that the packet comes through, in order. */
export function stagesOf(path: PacketPath, routing: Routing): readonly Stage[] {
  const stage = (hook: PathHook, part: Part, links: Links): Stage => ({
    hook,
    view: priority => viewOf(path, routing, { hook, part, priority, ...links }),
  });
  const output = routing.target?.link ?? 'unknown';
  const isLocal = routing.target?.type === 'local';
  const input = (path.isFromPod && routing.back) || 'unknown';
  const arriving: Links = { input, output: 'none' };
  const leaving: Links = { input: 'none', output };
  if (path.translatedBy === 'virtual server' && !isLocal) {
    const start = path.isFromNode
      ? [stage('output', 'before', leaving)]
      : [stage('prerouting', 'before', arriving), stage('input', 'before', arriving)];
    return [...start, stage('output', 'after', leaving), stage('postrouting', 'after', leaving)];
  }
  if (path.isFromNode) {
    const start = [stage('output', 'nat', leaving), stage('postrouting', 'after', leaving)];
    const looped: Links = { input: routing.lo, output: 'none' };
    return isLocal ? [...start, stage('prerouting', 'after', looped), stage('input', 'after', looped)] : start;
  }
  const arrival = stage('prerouting', 'nat', arriving);
  if (isLocal) return [arrival, stage('input', 'after', arriving)];
  const passing: Links = { input, output };
  return [arrival, stage('forward', 'after', passing), stage('postrouting', 'after', passing)];
}

interface Place extends Links {
  readonly hook: PathHook;
  readonly part: Part;
  readonly priority: number;
}

function viewOf(path: PacketPath, routing: Routing, { hook, part, priority, ...links }: Place): PacketView {
  const { packet, endpoint, isFromNode } = path;
  const isReplaced = endpoint !== undefined && (part === 'after' || (part === 'nat' && priority > DESTINATION_NAT));
  const original = { ip: packet.destination, port: packet.port };
  const { ip, port } = isReplaced ? endpoint : original;
  // The kernel routes a packet of the node by its first destination. After the translation it routes again.
  const isRerouted = hook !== 'output' || isReplaced;
  return {
    family: packet.family,
    protocol: packet.protocol,
    hook,
    source: hook === 'postrouting' && priority > SOURCE_NAT ? undefined : packet.source,
    destination: ip,
    port,
    original,
    isFromNode,
    // Connection tracking does not count what a virtual server does as a translation.
    isTranslated: isReplaced && path.translatedBy !== 'virtual server',
    isTracked: (hook !== 'prerouting' && hook !== 'output') || priority > CONNTRACK,
    input: links.input,
    output: isRerouted ? links.output : (routing.original?.link ?? 'unknown'),
    mark: markOf(path, hook),
    destinationType: (isReplaced ? routing.target : routing.original)?.type,
  };
}

/** The proxy sets its bit where it replaces the destination, and clears it where it replaces the source. */
function markOf({ masquerade }: PacketPath, hook: PathHook): KnownMark | undefined {
  if (!masquerade || (hook !== 'forward' && hook !== 'input')) return undefined;
  return { mask: masquerade.mark, value: masquerade.isMarked ? masquerade.mark : 0 };
}
