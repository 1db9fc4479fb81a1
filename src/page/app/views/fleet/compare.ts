import type { FleetServiceRow, KnownPort, KnownService, NodeServiceRow, UsedEndpoints } from '../../../fleet/index.ts';

/**
 * same         the node knows what most nodes know, and uses what that means for it
 * behind       the node knows something else than most nodes, or its kernel does not have the last changes
 * ahead        the node knows something newer than most nodes
 * differs      the node knows what most nodes know, but uses other endpoints than that means
 * setAside     the kernel of the node refused a port
 * unknown      the node does not know the Service, and most nodes do
 * silent       the node gave no answer
 */
export type NodeState = 'same' | 'behind' | 'ahead' | 'differs' | 'setAside' | 'unknown' | 'silent';

export interface NodeVerdict {
  readonly state: NodeState;
  readonly reasons: readonly string[];
}

export type Contents = ReadonlyMap<string, KnownService | UsedEndpoints>;

/**
 * Compares what the nodes know and use. Nodes use different endpoints where a policy is Local or where endpoints have
 * hints. That is expected, so each node is judged by what its own EndpointSlices mean for it.
 */
export function compareNodes(rows: readonly FleetServiceRow[], contents: Contents): ReadonlyMap<string, NodeVerdict> {
  const answered = rows.filter(isAnswer);
  const reference = referenceOf(answered);
  return new Map(
    rows.map(row => [
      row.node,
      isAnswer(row) ? verdictOf(row, reference, contents) : { state: 'silent', reasons: [row.silence.reason] },
    ]),
  );
}

function isAnswer(row: FleetServiceRow): row is NodeServiceRow {
  return !('silence' in row);
}

interface Reference {
  /** The digest that most nodes have. Undefined if most nodes do not know the Service. */
  readonly known: string | undefined;
  /** The newest change on a node with this digest. */
  readonly changed: string;
}

/** Of two digests that equally many nodes have, the one with the newer change counts. */
function referenceOf(rows: readonly NodeServiceRow[]): Reference {
  const groups = new Map<string | undefined, { count: number; changed: string }>();
  for (const { known, row } of rows) {
    const group = groups.get(known) ?? { count: 0, changed: '' };
    const changed = row?.changed ?? '';
    groups.set(known, { count: group.count + 1, changed: changed > group.changed ? changed : group.changed });
  }
  const [first] = [...groups].sort(
    ([, a], [, b]) => b.count - a.count || Number(b.changed > a.changed) - Number(a.changed > b.changed),
  );
  return { known: first?.[0], changed: first?.[1].changed ?? '' };
}

function verdictOf(node: NodeServiceRow, reference: Reference, contents: Contents): NodeVerdict {
  const { row } = node;
  const isKnown = node.known === reference.known;
  if (!row) return isKnown ? same() : { state: 'unknown', reasons: ['the node does not know the Service'] };
  if (row.state === 'setAside') return { state: 'setAside', reasons: row.reasons };
  if (!isKnown) {
    const state = (row.changed ?? '') > reference.changed ? 'ahead' : 'behind';
    return { state, reasons: differences(knownIn(contents, node.known), knownIn(contents, reference.known)) };
  }
  if (row.state === 'waiting') {
    return { state: 'behind', reasons: ['the kernel of the node does not have the last changes yet'] };
  }
  const reasons = unexpectedUse(node.node, knownIn(contents, node.known), usedIn(contents, node.used));
  return reasons.length === 0 ? same() : { state: 'differs', reasons };
}

function same(): NodeVerdict {
  return { state: 'same', reasons: [] };
}

function knownIn(contents: Contents, digest: string | undefined): readonly KnownPort[] {
  const found = contents.get(digest ?? '');
  return found?.kind === 'known' ? found.ports : [];
}

function usedIn(contents: Contents, digest: string | undefined): UsedEndpoints['ports'] {
  const found = contents.get(digest ?? '');
  return found?.kind === 'used' ? found.ports : [];
}

/** How the ports that a node knows differ from those that most nodes know. */
function differences(here: readonly KnownPort[], most: readonly KnownPort[]): readonly string[] {
  const reasons: string[] = [];
  for (const port of here) {
    if (!most.some(({ id }) => id === port.id)) reasons.push(`has the port ${port.id}`);
  }
  for (const port of most) {
    const own = here.find(({ id }) => id === port.id);
    if (own) reasons.push(...portDifferences(own, port));
    else reasons.push(`lacks the port ${port.id}`);
  }
  // The digests differ, so something does.
  return reasons.length > 0 ? reasons : ['knows the Service otherwise than most nodes'];
}

function portDifferences(here: KnownPort, most: KnownPort): readonly string[] {
  const reasons: string[] = [];
  const others = new Map(most.endpoints.map(endpoint => [endpoint.address, JSON.stringify(endpoint)]));
  for (const endpoint of here.endpoints) {
    const other = others.get(endpoint.address);
    others.delete(endpoint.address);
    if (other === undefined) reasons.push(`${here.id}: still has the endpoint ${endpoint.address}`);
    else if (other !== JSON.stringify(endpoint)) reasons.push(`${here.id}: has another state of ${endpoint.address}`);
  }
  for (const address of others.keys()) reasons.push(`${here.id}: lacks the endpoint ${address}`);
  if (withoutEndpoints(here) !== withoutEndpoints(most)) reasons.push(`${here.id}: has other addresses or policies`);
  return reasons;
}

function withoutEndpoints({ endpoints: _, ...port }: KnownPort): string {
  return JSON.stringify(port);
}

/** What a node should use by its own EndpointSlices, beside what it uses. */
function unexpectedUse(node: string, known: readonly KnownPort[], used: UsedEndpoints['ports']): readonly string[] {
  return known.flatMap(port => {
    const own = used.find(({ id }) => id === port.id);
    const isHinted = port.endpoints.some(({ hints = [] }) => hints.length > 0);
    const cluster = own?.cluster && useDifferences(own.cluster, usable(port.endpoints), isHinted);
    const here = port.endpoints.filter(endpoint => endpoint.node === node);
    const local = own?.local && useDifferences(own.local, usable(here), false);
    return [...(cluster ?? []), ...(local ?? [])].map(text => `${port.id}: ${text}`);
  });
}

/** Ready endpoints, or those that are terminating and still serve if none is ready. */
function usable(endpoints: KnownPort['endpoints']): readonly string[] {
  const ready = endpoints.filter(endpoint => endpoint.ready);
  const chosen = ready.length > 0 ? ready : endpoints.filter(({ serving, terminating }) => serving && terminating);
  return chosen.map(({ address }) => address);
}

/** With hints a node may use fewer endpoints, but not none of several. */
function useDifferences(used: readonly string[], expected: readonly string[], mayUseFewer: boolean): readonly string[] {
  const uses = new Set(used);
  const extra = used.filter(address => !expected.includes(address)).map(address => `uses ${address}`);
  const missing = expected.filter(address => !uses.has(address)).map(address => `does not use ${address}`);
  return mayUseFewer && used.length > 0 ? extra : [...extra, ...missing];
}
