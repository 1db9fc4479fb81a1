import { cidrContains, familyOf, formatCidr, type Ip, isLoopback } from '../../net/index.ts';
import type { OutcomeContext } from './question.ts';

/** Where the mode itself listens on loopback. */
const LISTENERS: readonly string[] = ['127.0.0.1', '::1'];

/** What serves node ports at an address of the node. Undefined if nothing does. */
export function nodePortServer(context: OutcomeContext, ip: Ip): 'rules' | 'listener' | undefined {
  if (isLoopback(ip)) return loopbackServer(context, ip);
  const { settings, nodeIPs } = context;
  const accepting = settings.nodePortAddresses.matchAll ? nodeIPs : settings.nodePortIPs;
  return accepting.includes(ip) ? 'rules' : undefined;
}

function loopbackServer({ mode, settings }: OutcomeContext, ip: Ip): 'rules' | 'listener' | undefined {
  const { matchAll, cidrs, containsIPv4Loopback } = settings.nodePortAddresses;
  const isListed = matchAll || settings.nodePortIPs.includes(ip) || isListedLoopback(cidrs, ip);
  const isV4 = familyOf(ip) === 'IPv4';
  switch (mode.behaviour.loopbackNodePorts) {
    case 'none':
      return undefined;
    case 'ipv4':
      return isV4 && containsIPv4Loopback && isListed ? 'rules' : undefined;
    case 'all':
      return isListed || (isV4 && containsIPv4Loopback) ? 'rules' : undefined;
    case 'listeners':
      return LISTENERS.includes(ip) ? 'listener' : undefined;
  }
}

/** Every machine has these two addresses, also if its interfaces are not known. */
function isListedLoopback(cidrs: OutcomeContext['settings']['nodePortAddresses']['cidrs'], ip: Ip): boolean {
  return LISTENERS.includes(ip) && cidrs.some(cidr => cidrContains(cidr, ip));
}

/** Why an address does not accept node ports, as the end of a sentence. */
export function refusalText({ mode, settings }: OutcomeContext, ip: Ip): string {
  const { matchAll, cidrs } = settings.nodePortAddresses;
  if (isLoopback(ip) && mode.behaviour.loopbackNodePorts === 'none') {
    return 'node ports are not served at loopback addresses';
  }
  if (matchAll) return 'this kind of address does not accept node ports';
  return `nodePortAddresses is ${cidrs.map(formatCidr).join(', ')}`;
}
