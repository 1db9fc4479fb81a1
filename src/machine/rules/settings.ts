import { KernelError } from '../../kernel/errors.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { readSysctl } from '../../kernel/sysctl.ts';
import type { Ip } from '../../net/index.ts';
import type { Finding, PacketPath, RouteFinding, SysctlFinding } from './finding.ts';
import { type Routing, readDefaultLinks, type Way } from './routing.ts';

const SURE = { certainty: 'drops', unknown: [] } as const;
const STRICT = '1';
const LOOSE = '2';

/** Routes and settings of the kernel that keep the packet from its way. */
export function settingFindings(
  path: PacketPath,
  routing: Routing,
  namespace: NetworkNamespace | undefined,
): readonly Finding[] {
  return [
    ...reversePathFindings(path, routing, namespace),
    ...forwardingFindings(path, routing, namespace),
    ...routeFindings(path, routing),
  ];
}

/** The kernel finds a route for the called address only if a process of the node sends the packet. */
function routeFindings({ packet, endpoint, isFromNode }: PacketPath, routing: Routing): readonly RouteFinding[] {
  const findings: (RouteFinding | undefined)[] = [];
  if (isFromNode) findings.push(routeFinding(packet.destination, routing.original, routing.originalError));
  if (endpoint || !isFromNode) {
    const destination = endpoint?.ip ?? packet.destination;
    findings.push(routeFinding(destination, routing.target, routing.targetError));
  }
  return findings.filter(finding => finding !== undefined);
}

const ERROR_TEXTS: Readonly<Record<string, string>> = {
  ENETUNREACH: 'no route',
  EHOSTUNREACH: 'unreachable',
  EINVAL: 'blackhole',
  EACCES: 'prohibit',
};

function routeFinding(destination: Ip, way: Way | undefined, error: string | undefined): RouteFinding | undefined {
  const type = way?.type;
  const isBlocked = type === 'blackhole' || type === 'unreachable' || type === 'prohibit';
  if (way && !isBlocked) return undefined;
  const text = isBlocked ? type : (ERROR_TEXTS[error ?? ''] ?? `${error}`);
  return { kind: 'route', destination, text: `${text} to ${destination}`, ...SURE };
}

function forwardingFindings(
  { packet, isFromNode }: PacketPath,
  routing: Routing,
  namespace: NetworkNamespace | undefined,
): readonly SysctlFinding[] {
  if (isFromNode || !routing.target || routing.target.type === 'local') return [];
  const path = packet.family === 'IPv4' ? 'net/ipv4/ip_forward' : 'net/ipv6/conf/all/forwarding';
  const value = read(path, namespace);
  return value === '0' ? [{ ...sysctl(path, value), ...SURE }] : [];
}

/**
 * With strict reverse path filtering the kernel drops a packet that comes in at another interface than the one that it
 * would answer through. That can happen on a node with two ways to the outside.
 */
function reversePathFindings(
  { packet, isFromNode }: PacketPath,
  { back }: Routing,
  namespace: NetworkNamespace | undefined,
): readonly SysctlFinding[] {
  if (packet.family !== 'IPv4' || isFromNode || !back) return [];
  const all = read('net/ipv4/conf/all/rp_filter', namespace);
  if (all === LOOSE) return [];
  const defaultLinks = readDefaultLinks(packet.family, namespace);
  if (!defaultLinks.some(({ index }) => index === back.index)) return [];
  for (const { name, index } of defaultLinks) {
    if (index === back.index) continue;
    const path = `net/ipv4/conf/${name}/rp_filter`;
    const value = read(path, namespace);
    // The kernel uses the greater of the two values.
    const effective = [all, value].sort().at(-1);
    if (effective !== STRICT) continue;
    const setting = value === STRICT ? path : 'net/ipv4/conf/all/rp_filter';
    return [{ ...sysctl(setting, STRICT), certainty: 'may drop', unknown: ['input interface'] }];
  }
  return [];
}

/** As the command `sysctl` prints it. It prints a dot in an interface's name as a slash. */
function sysctl(path: string, value: string): Pick<SysctlFinding, 'kind' | 'name' | 'value' | 'text'> {
  const name = path.replaceAll(/[./]/g, character => (character === '/' ? '.' : '/'));
  return { kind: 'sysctl', name, value, text: `${name} = ${value}` };
}

function read(path: string, namespace: NetworkNamespace | undefined): string | undefined {
  try {
    return readSysctl(path, namespace);
  } catch (error) {
    if (error instanceof KernelError) return undefined;
    throw error;
  }
}
