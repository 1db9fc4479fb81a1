import type { FleetRow, NodeRow } from '../../../fleet/index.ts';
import type { NodeState, NodeVerdict } from './compare.ts';

/** The filters of the list of nodes, as the address has them. */
export const FILTERS = ['', 'unlike', 'behind', 'differs', 'setAside', 'silent'] as const;
export type Filter = (typeof FILTERS)[number];

export const FILTER_WORDS: Readonly<Record<Filter, string>> = {
  '': 'all',
  unlike: 'not as most',
  behind: 'behind',
  differs: 'different',
  setAside: 'set aside',
  silent: 'no answer',
};

export function filterOf(text: string | undefined): Filter {
  return FILTERS.find(filter => filter === text) ?? '';
}

/** Each way of not being as most nodes, the worst first. */
const ORDER: readonly NodeState[] = ['setAside', 'differs', 'behind', 'unknown', 'silent', 'ahead', 'same'];

/** What most of the table needs of a node, from whichever question it answered. */
interface Named {
  readonly node: string;
  readonly pod?: string | undefined;
}

/** The nodes that match the search and the filter: those with a finding first, then by name. */
export function chosenNodes<Row extends Named>(
  rows: readonly Row[],
  verdict: (row: Row) => NodeVerdict,
  { search, filter }: { readonly search: string; readonly filter: Filter },
): readonly Row[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return rows
    .map(row => ({ row, state: verdict(row).state }))
    .filter(({ state }) => matchesFilter(state, filter))
    .filter(({ row }) => words.every(word => `${row.node} ${row.pod ?? ''}`.toLowerCase().includes(word)))
    .sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || compareNames(a.row.node, b.row.node))
    .map(({ row }) => row);
}

function matchesFilter(state: NodeState, filter: Filter): boolean {
  switch (filter) {
    case '':
      return true;
    case 'unlike':
      return state !== 'same';
    case 'behind':
      return state === 'behind' || state === 'unknown';
    default:
      return state === filter;
  }
}

/** `node-9` before `node-10`. */
const collator = new Intl.Collator('en', { numeric: true });

function compareNames(a: string, b: string): number {
  return collator.compare(a, b);
}

/** What the status of a node says, in the words of the comparison. */
export function statusVerdict(row: FleetRow): NodeVerdict {
  if ('silence' in row) return { state: 'silent', reasons: [row.silence.reason] };
  const reasons = [
    ...(row.ready ? [] : ['not ready']),
    ...(row.watches.synced < row.watches.all
      ? [countedText(row.watches.all - row.watches.synced, 'watch has no data', 'watches have no data')]
      : []),
    ...(row.watches.problem === undefined ? [] : [row.watches.problem]),
    ...(row.syncs.error === undefined ? [] : [`the last sync failed: ${row.syncs.error}`]),
  ];
  if (row.servicePorts.setAside > 0) {
    return {
      state: 'setAside',
      reasons: [
        countedText(row.servicePorts.setAside, 'service port is set aside', 'service ports are set aside'),
        ...reasons,
      ],
    };
  }
  if (reasons.length > 0) return { state: 'behind', reasons };
  return row.pending ? { state: 'behind', reasons: ['changes wait for the kernel'] } : { state: 'same', reasons: [] };
}

/** `nftables 10, iptables 2`: the most frequent first. */
export function countsText(values: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .sort(([a, m], [b, n]) => n - m || compareNames(a, b))
    .map(([value, count]) => (counts.size === 1 ? value : `${value} on ${count}`))
    .join(', ');
}

export interface FleetSummary {
  readonly nodes: number;
  readonly answered: number;
  readonly modes: string;
  readonly versions: string;
}

export function summaryOf(rows: readonly FleetRow[]): FleetSummary {
  const answered = rows.filter((row): row is NodeRow => !('silence' in row));
  return {
    nodes: rows.length,
    answered: answered.length,
    modes: countsText(answered.map(({ mode }) => mode)),
    versions: countsText(answered.map(({ version }) => version)),
  };
}

function countedText(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

const COUNTED: readonly (readonly [state: NodeState, one: string, many: string])[] = [
  ['setAside', 'sets it aside', 'set it aside'],
  ['differs', 'uses other endpoints than it should', 'use other endpoints than they should'],
  ['behind', 'is behind', 'are behind'],
  ['unknown', 'does not know it', 'do not know it'],
  ['ahead', 'is ahead', 'are ahead'],
  ['silent', 'gives no answer', 'give no answer'],
];

/** `Of 16 nodes, 14 agree, 1 is behind, 1 gives no answer.` */
export function comparisonText(states: readonly NodeState[]): string {
  const count = (state: NodeState) => states.filter(other => other === state).length;
  const others = COUNTED.filter(([state]) => count(state) > 0).map(([state, one, many]) =>
    countedText(count(state), one, many),
  );
  const agree = countedText(count('same'), 'agrees', 'agree');
  return `${[`Of ${countedText(states.length, 'node', 'nodes')}, ${agree}`, ...others].join(', ')}.`;
}
