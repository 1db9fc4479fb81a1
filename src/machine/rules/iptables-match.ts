import { cidrContains, hostCidr, type Ip, ipBytes, parseCidr, parseIp } from '../../net/index.ts';
import type { Condition } from './iptables-rule.ts';
import { type Answer, answer, any } from './known-bytes.ts';
import { PROTOCOL_NUMBERS } from './nft-fields.ts';
import type { PacketView } from './packet-view.ts';
import type { Interface } from './routing.ts';

/** An answer, and what would have to be known if the answer is `unknown`. */
export interface MatchAnswer {
  readonly answer: Answer;
  readonly reason: string;
}

/** Modules whose options are evaluated, or that match everything. */
const KNOWN_MODULES: ReadonlySet<string> = new Set([
  'tcp',
  'udp',
  'sctp',
  'multiport',
  'conntrack',
  'state',
  'comment',
  'mark',
  'connmark',
  'addrtype',
  'set',
  'iprange',
  'owner',
  'nfacct',
]);

/** Modules that say nothing about the packet itself, in words that an operator understands. */
const REASONS: Readonly<Record<string, string>> = {
  limit: 'rate of packets',
  hashlimit: 'rate of packets',
  connlimit: 'number of connections',
  recent: 'recent packets of the caller',
  statistic: 'random number',
  physdev: 'bridge port',
  mac: 'link layer addresses',
  time: 'time',
  rpfilter: 'input interface',
  socket: 'socket that receives the packet',
};

/** `-m rpfilter`: a module may have no options. */
export function matchesWithoutOptions({ values: [module = ''] }: Condition, view: PacketView): MatchAnswer {
  if (module === 'owner' && !view.isFromNode) return { answer: 'no', reason: '' };
  if (KNOWN_MODULES.has(module)) return { answer: 'yes', reason: '' };
  return { answer: 'unknown', reason: REASONS[module] ?? `match ${module}` };
}

/** The answer before the inversion. Undefined if the option is not known. */
export function matchOption({ option, values, module }: Condition, view: PacketView): MatchAnswer | undefined {
  const [value = ''] = values;
  switch (option) {
    case '-s':
      return inNetwork(view.source, value, 'source address');
    case '-d':
      return inNetwork(view.destination, value, 'destination address');
    case '-p':
      return sure(value === 'all' || isProtocol(value, view));
    case '-i':
      return onInterface(view.input, value, 'input interface');
    case '-o':
      return onInterface(view.output, value, 'output interface');
    case '-f':
      return sure(false);
    // It only counts.
    case '--nfacct-name':
      return sure(true);
    case '--dport':
    case '--dports':
      return sure(hasPort(value, view.port));
    case '--sport':
    case '--sports':
      return { answer: 'unknown', reason: 'source port' };
    case '--ports':
      return { answer: hasPort(value, view.port) ? 'yes' : 'unknown', reason: 'source port' };
    case '--ctstate':
    case '--state':
      return matchState(value, view);
    case '--src-range':
      return inRange(view.source, value, 'source address');
    case '--dst-range':
      return inRange(view.destination, value, 'destination address');
    case '--match-set':
      return { answer: 'unknown', reason: `ipset ${value}` };
    default:
      return matchRareOption(option, values, module, view);
  }
}

function matchRareOption(
  option: string,
  [value = '', second = '']: readonly string[],
  module: string,
  view: PacketView,
): MatchAnswer | undefined {
  switch (option) {
    case '--tcp-flags':
      // The first packet of a connection has only the flag SYN.
      return sure(view.protocol === 'TCP' && hasSynOnly(value, second));
    case '--syn':
      return sure(view.protocol === 'TCP');
    case '--ctdir':
      return sure(value === 'ORIGINAL' && view.isTracked);
    case '--ctorigdst':
      return inNetwork(view.original.ip, value, 'destination address');
    case '--ctorigdstport':
      return sure(hasPort(value, view.original.port));
    case '--dst-type':
      if (view.destinationType === undefined) return { answer: 'unknown', reason: 'route' };
      return sure(value.split(',').includes(view.destinationType.toUpperCase()));
    case '--src-type':
      if (view.isFromNode) return sure(value.split(',').includes('LOCAL'));
      return { answer: 'unknown', reason: 'type of the source address' };
    case '--mark':
      return module === 'connmark' ? { answer: 'unknown', reason: 'connection mark' } : matchMark(value, view);
    default:
      return module in REASONS || KNOWN_MODULES.has(module)
        ? { answer: 'unknown', reason: REASONS[module] ?? `match ${module}` }
        : undefined;
  }
}

/** `0x4000/0x4000`: a value and a mask. */
function matchMark(
  text: string,
  { mark: { mask: known, value: bits } = { mask: 0, value: 0 } }: PacketView,
): MatchAnswer {
  const [value = 0, mask = 0xffffffff] = text.split('/').map(Number);
  if ((bits ^ value) & mask & known) return sure(false);
  return (mask & ~known) === 0 ? sure(true) : { answer: 'unknown', reason: 'packet mark' };
}

function matchState(list: string, view: PacketView): MatchAnswer {
  const states = list.split(',');
  if (!view.isTracked) return sure(states.includes('INVALID'));
  if (states.includes('NEW') || (states.includes('DNAT') && view.isTranslated)) return sure(true);
  return states.includes('SNAT') ? { answer: 'unknown', reason: 'replacement of the source' } : sure(false);
}

function inNetwork(ip: Ip | undefined, list: string, reason: string): MatchAnswer {
  const answers = list.split(',').map((text): Answer => {
    const address = parseIp(text);
    const network = address === undefined ? parseCidr(text) : hostCidr(address);
    if (network?.prefix === 0) return 'yes';
    return network && ip !== undefined ? answer(cidrContains(network, ip)) : 'unknown';
  });
  return { answer: any(answers), reason };
}

function inRange(ip: Ip | undefined, range: string, reason: string): MatchAnswer {
  const [from, to] = range.split('-').map(parseIp);
  if (ip === undefined || from === undefined || to === undefined) return { answer: 'unknown', reason };
  const bytes = ipBytes(ip);
  return sure(Buffer.compare(bytes, ipBytes(from)) >= 0 && Buffer.compare(bytes, ipBytes(to)) <= 0);
}

/** `eth0`, or `veth+` for all names that begin so. */
function onInterface(link: Interface | 'none' | 'unknown', name: string, reason: string): MatchAnswer {
  if (name === '+') return sure(true);
  if (link === 'unknown') return { answer: 'unknown', reason };
  if (link === 'none') return sure(false);
  return sure(name.endsWith('+') ? link.name.startsWith(name.slice(0, -1)) : link.name === name);
}

function isProtocol(text: string, { protocol }: PacketView): boolean {
  return text.toLowerCase() === protocol.toLowerCase() || Number(text) === PROTOCOL_NUMBERS[protocol];
}

/** `80`, `8000:8080`, `22,80:90`. */
function hasPort(list: string, port: number): boolean {
  return list.split(',').some(part => {
    const [from = '', to = from] = part.split(':');
    return port >= Number(from || 0) && port <= Number(to === '' ? 65535 : to);
  });
}

function hasSynOnly(mask: string, flags: string): boolean {
  const masked = mask === 'ALL' ? ['SYN', 'OTHER'] : mask.split(',');
  return masked.includes('SYN') ? flags === 'SYN' : flags === 'NONE';
}

function sure(isTrue: boolean): MatchAnswer {
  return { answer: answer(isTrue), reason: '' };
}
