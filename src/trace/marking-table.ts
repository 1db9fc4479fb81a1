import {
  accept,
  type Chain,
  type Expression,
  type Hook,
  host32,
  jump,
  matchAddress,
  matchFibType,
  matchL4proto,
  matchMasked,
  matchNfproto,
  matchPort,
  payload,
  Transaction,
} from '../kernel/nftables/index.ts';
import { type Cidr, cidrFamily, type Family } from '../net/index.ts';
import type { PacketSelection, SelectedDestination } from './selection.ts';

/** The chains of the table. Messages about them say where a packet is. */
export const MarkingChain = { MARK: 'mark', PREROUTING: 'mark-prerouting', OUTPUT: 'mark-output' } as const;

/** Right after the kernel has put fragments together, at -400, and before all tables that operators know. */
const FIRST_PRIORITY = -399;
/** After everything but the confirmation of a new connection. */
const LAST_PRIORITY = 2_147_483_646;
/** Packets come in through these. */
const ENTRY_CHAINS: readonly Chain[] = [
  baseChain(MarkingChain.PREROUTING, 'prerouting', FIRST_PRIORITY),
  baseChain(MarkingChain.OUTPUT, 'output', FIRST_PRIORITY),
];
/** Empty chains. Their policies show how a packet looks at the end of the hook, and that nothing has dropped it. */
const LAST_HOOKS: readonly Hook[] = ['prerouting', 'input', 'forward', 'output', 'postrouting'];

/**
 * A busy Service must not flood the trace. First packets of TCP connections, and packets of other protocols, have limits
 * of their own: they say most, and the packets of long connections must not crowd them out.
 */
const SYNS_PER_SECOND = 100n;
const FURTHER_PER_SECOND = 20n;
const OTHERS_PER_SECOND = 100n;
const TCP_FLAGS_OFFSET = 13;
const SYN = 0x02;
const SYN_AND_ACK = 0x12;

export function lastChainOf(hook: Hook): string {
  return `last-${hook}`;
}

/**
 * A table that marks the selected packets, and changes nothing else. The kernel deletes it with the socket that commits
 * it, also if the process is killed.
 */
export function markingTable(name: string, selection: PacketSelection): Transaction {
  const transaction = new Transaction('inet', name)
    .create({ kind: 'table', family: 'inet', name, owned: true, comment: 'kube-proxy trace: marks packets' })
    .add({ kind: 'chain', name: MarkingChain.MARK });
  for (const hook of LAST_HOOKS) transaction.add(baseChain(lastChainOf(hook), hook, LAST_PRIORITY));
  const add = (chain: string, expressions: readonly Expression[]) =>
    transaction.add({ kind: 'rule', chain, expressions });
  add(MarkingChain.MARK, [...matchSyn('eq'), limit(SYNS_PER_SECOND), ...setNftrace(), accept]);
  add(MarkingChain.MARK, [...matchSyn('neq'), limit(FURTHER_PER_SECOND), ...setNftrace(), accept]);
  add(MarkingChain.MARK, [...matchL4proto('tcp', 'neq'), limit(OTHERS_PER_SECOND), ...setNftrace(), accept]);
  for (const chain of ENTRY_CHAINS) {
    transaction.add(chain);
    // Prerouting needs its chain also for packets of this machine: it shows those that the loopback interface receives.
    if (selection.source === 'node' && chain.name !== MarkingChain.OUTPUT) continue;
    for (const matches of selectionMatches(selection)) add(chain.name, [...matches, jump(MarkingChain.MARK)]);
  }
  return transaction;
}

function baseChain(name: string, hook: Hook, priority: number): Chain {
  return { kind: 'chain', name, base: { type: 'filter', hook, priority } };
}

function* selectionMatches({ source, destinations }: PacketSelection): Generator<readonly Expression[]> {
  if (destinations.length === 0) yield sourceMatch(source);
  for (const destination of destinations) {
    const families = new Set([familyIn(source), familyIn(destination.address)].filter(family => family !== undefined));
    // No packet has a source of one family and a destination of the other.
    if (families.size < 2) yield [...sourceMatch(source), ...destinationMatch(destination)];
  }
}

function sourceMatch(source: PacketSelection['source']): readonly Expression[] {
  if (source === undefined || source === 'node') return [];
  return [...matchNfproto(nftFamily(source)), ...matchAddress('saddr', source)];
}

function destinationMatch({ address, protocol, port }: SelectedDestination): readonly Expression[] {
  return [
    ...(address === 'node'
      ? matchFibType('daddr', 'local')
      : [...matchNfproto(nftFamily(address)), ...matchAddress('daddr', address)]),
    ...(protocol === undefined ? [] : matchL4proto(protocol.toLowerCase())),
    ...(port === undefined ? [] : matchPort('dport', port)),
  ];
}

function familyIn(address: Cidr | 'node' | undefined): Family | undefined {
  return address === undefined || address === 'node' ? undefined : cidrFamily(address);
}

function nftFamily(cidr: Cidr): 'ip' | 'ip6' {
  return cidrFamily(cidr) === 'IPv4' ? 'ip' : 'ip6';
}

function matchSyn(op: 'eq' | 'neq'): readonly Expression[] {
  const flags = payload('transport', TCP_FLAGS_OFFSET, 1);
  return [...matchL4proto('tcp'), ...matchMasked(flags, Buffer.of(SYN_AND_ACK), op, Buffer.of(SYN))];
}

function limit(rate: bigint): Expression {
  return { kind: 'limit', rate, unit: 'second', burst: Number(rate), of: 'packets' };
}

/** `meta nftrace set 1`. The rule then accepts, which only ends the chains of this table. */
function setNftrace(): readonly Expression[] {
  return [
    { kind: 'immediate', dreg: 1, data: host32(1).subarray(0, 1) },
    { kind: 'meta-set', key: 'nftrace', sreg: 1 },
  ];
}
