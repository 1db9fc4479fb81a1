import { dataBytes, type Element, type NftSet, type SetOrMap, Transaction } from '../../../kernel/nftables/index.ts';
import { type Cidr, cidrContains, cidrFamily, type Ip, ipBytes, isLoopback, parseCidr } from '../../../net/index.ts';
import type { Snapshot } from '../kernel-state/snapshot.ts';
import { type ChainRules, ruleText } from './chain-rules.ts';
import { fixedSets, type Layout, TABLE } from './layout.ts';
import { type FixedProgramOptions, rejectChains, steeringChains } from './program.ts';
import { permanentPicks } from './shared-chains.ts';

/** What the fixed part of the table depends on: its program, and the addresses in two of its sets. */
export interface FixedOptions extends FixedProgramOptions {
  readonly nodePortIPs: readonly Ip[];
  readonly serviceCIDRs: readonly string[];
}

export function sameAddresses(a: FixedOptions, b: FixedOptions): boolean {
  const addresses = ({ nodePortIPs, serviceCIDRs }: FixedOptions) => JSON.stringify([nodePortIPs, serviceCIDRs]);
  return addresses(a) === addresses(b);
}

export function sameProgram(a: FixedOptions, b: FixedOptions): boolean {
  const program = ({ masqueradeMark, masqueradeAll, localDetector, nodePortAddresses }: FixedOptions) =>
    JSON.stringify([
      masqueradeMark,
      masqueradeAll,
      localDetector,
      nodePortAddresses.matchAll,
      nodePortAddresses.containsExplicitLoopback,
    ]);
  return program(a) === program(b);
}

/** All chains of the fixed program, except those that are shared by number of endpoints. */
export function fixedChains(layout: Layout, options: FixedProgramOptions): readonly ChainRules[] {
  return [...rejectChains(layout), ...steeringChains(layout, options)];
}

/** The transaction that corrects what elements and steering chains refer to. It is empty if nothing differs. */
export function prepareFoundation(layout: Layout, snapshot: Snapshot): Transaction {
  const transaction = new Transaction(layout.nft, TABLE);
  if (snapshot.tableHandle === undefined) {
    transaction.add({ kind: 'table', family: layout.nft, name: TABLE, comment: 'rules for kube-proxy' });
  }
  for (const set of fixedSets(layout)) if (!snapshot.sets.has(set.name)) transaction.add(set);
  prepareChains(transaction, layout, [...rejectChains(layout), ...permanentPicks(layout)], snapshot);
  return transaction;
}

/** The transaction that corrects what makes packets use the table. It is empty if nothing differs. */
export function prepareSteering(layout: Layout, options: FixedOptions, snapshot: Snapshot): Transaction {
  const transaction = new Transaction(layout.nft, TABLE);
  prepareChains(transaction, layout, steeringChains(layout, options), snapshot);
  prepareAddresses(transaction, layout, options, snapshot);
  const { localhostRejectedPackets: counters } = layout;
  if (counters) prepareElements(transaction, counters, protocolElements(counters), snapshot.elements);
  return transaction;
}

/** Adds only the changes of addresses in two sets. */
export function prepareAddresses(
  transaction: Transaction,
  layout: Layout,
  options: FixedOptions,
  { elements }: Pick<Snapshot, 'elements'>,
): void {
  prepareElements(transaction, layout.nodePortIPs, nodePortElements(layout, options), elements);
  prepareElements(transaction, layout.serviceCIDRs, cidrElements(layout, options.serviceCIDRs), elements);
}

/** Whether a set has our name but another type. The kernel cannot change the type of a set. */
export function hasUnusableSets(layout: Layout, snapshot: Snapshot): boolean {
  const shape = (set: SetOrMap) =>
    JSON.stringify([set.kind, set.type, set.kind === 'map' ? set.data : [], set.flags ?? [], set.counter ?? false]);
  return fixedSets(layout).some(set => {
    const listed = snapshot.sets.get(set.name);
    return listed !== undefined && shape(listed) !== shape(set);
  });
}

function prepareChains(
  transaction: Transaction,
  layout: Layout,
  chains: readonly ChainRules[],
  snapshot: Snapshot,
): void {
  const written = chains.filter(chain => !isListed(layout, chain, snapshot));
  for (const { chain } of written) {
    const listed = snapshot.chains.get(chain.name);
    // The kernel cannot change the hook or priority of a base chain, so the chain is deleted.
    if (listed && !sameBase(listed.chain, chain)) transaction.flush(listed.chain).delete(listed.chain).add(chain);
    else if (listed) transaction.flush(chain);
    else transaction.add(chain);
  }
  for (const { rules } of written) for (const rule of rules) transaction.add(rule);
}

function isListed(layout: Layout, { chain, rules }: ChainRules, snapshot: Snapshot): boolean {
  const listed = snapshot.chains.get(chain.name);
  return (
    listed !== undefined &&
    sameBase(listed.chain, chain) &&
    listed.rules.length === rules.length &&
    rules.every((rule, i) => ruleText(layout, rule) === listed.rules[i])
  );
}

function sameBase(a: ChainRules['chain'], b: ChainRules['chain']): boolean {
  return (
    a.base?.type === b.base?.type &&
    a.base?.hook === b.base?.hook &&
    a.base?.priority === b.base?.priority &&
    (a.base?.policy ?? 'accept') === (b.base?.policy ?? 'accept')
  );
}

function prepareElements(
  transaction: Transaction,
  set: NftSet,
  wanted: readonly Element[],
  elements: Snapshot['elements'],
): void {
  const listed = elements.get(set.name);
  const missing = wanted.filter(element => listed?.value(element) === undefined);
  for (const element of wanted) listed?.markWanted(element);
  transaction.deleteElements(set, [...(listed?.leftovers() ?? [])]);
  transaction.addElements(set, missing);
}

/** The elements that count rejected packets by protocol. */
export function protocolElements(set: NftSet): Element[] {
  return ['tcp', 'udp', 'sctp'].map(protocol => ({ kind: 'element', key: dataBytes(set.type, [protocol]) }));
}

/** The addresses that accept node ports, if not all do. */
export function nodePortElements({ nodePortIPs: set }: Layout, { nodePortIPs }: FixedOptions): Element[] {
  // The kernel does not route packets from 127.0.0.1 to other machines.
  const served = nodePortIPs.filter(ip => !isLoopback(ip));
  return served.map(ip => ({ kind: 'element', key: dataBytes(set.type, [ip]) }));
}

/** The ranges of the family. Ranges of a set must not overlap, so a range inside another is left out. */
export function cidrElements({ family }: Layout, texts: readonly string[]): Element[] {
  const cidrs = texts.flatMap(text => parseCidr(text) ?? []).filter(cidr => cidrFamily(cidr) === family);
  const outer = cidrs.filter(
    (cidr, i) =>
      !cidrs.some(
        (other, j) =>
          i !== j &&
          cidrContains(other, cidr.address) &&
          (other.prefix < cidr.prefix || (other.prefix === cidr.prefix && j < i)),
      ),
  );
  return outer.map(cidr => {
    const key = ipBytes(cidr.address);
    const keyEnd = lastAddress(cidr);
    return key.equals(keyEnd) ? { kind: 'element', key } : { kind: 'element', key, keyEnd };
  });
}

function lastAddress(cidr: Cidr): Buffer {
  const bytes = ipBytes(cidr.address);
  for (let i = 0; i < bytes.length; i++) {
    const kept = Math.min(8, Math.max(0, cidr.prefix - 8 * i));
    bytes[i] = (bytes[i] ?? 0) | (0xff >> kept);
  }
  return bytes;
}
