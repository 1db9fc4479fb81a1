import type { HistoryRow } from '../../../../inspect/index.ts';
import type { Tone } from '../../parts/service-states.ts';

/** The entries of the history that belong together on the axis. */
export interface Lane {
  /** In the address. */
  readonly id: LaneId;
  readonly text: string;
  readonly tone: Tone;
}

export type LaneId = 'syncs' | 'changes' | 'repairs' | 'refusals' | 'problems' | 'configuration' | 'watches';

export const LANES: readonly Lane[] = [
  { id: 'changes', text: 'Changes', tone: 'accent' },
  { id: 'syncs', text: 'Syncs', tone: 'quiet' },
  { id: 'repairs', text: 'Repairs', tone: 'warn' },
  { id: 'refusals', text: 'Refusals', tone: 'bad' },
  { id: 'problems', text: 'Problems', tone: 'bad' },
  { id: 'configuration', text: 'Configuration', tone: 'good' },
  { id: 'watches', text: 'Watches', tone: 'warn' },
];

interface KindWords {
  readonly lane: LaneId;
  readonly icon: string;
  readonly word: string;
  readonly tone: Tone;
}

const KINDS: Readonly<Record<string, KindWords>> = {
  start: { lane: 'syncs', icon: '▸', word: 'start', tone: 'quiet' },
  listed: { lane: 'syncs', icon: '≡', word: 'listed', tone: 'quiet' },
  change: { lane: 'changes', icon: '●', word: 'change', tone: 'accent' },
  changes: { lane: 'changes', icon: '●', word: 'changes', tone: 'accent' },
  node: { lane: 'changes', icon: '●', word: 'node', tone: 'accent' },
  serviceCidr: { lane: 'changes', icon: '●', word: 'service CIDR', tone: 'accent' },
  sync: { lane: 'syncs', icon: '↻', word: 'sync', tone: 'quiet' },
  syncFailed: { lane: 'syncs', icon: '✕', word: 'sync failed', tone: 'bad' },
  repair: { lane: 'repairs', icon: '⚒', word: 'repair', tone: 'warn' },
  ended: { lane: 'changes', icon: '●', word: 'connections ended', tone: 'accent' },
  setAside: { lane: 'refusals', icon: '✕', word: 'set aside', tone: 'bad' },
  problem: { lane: 'problems', icon: '✕', word: 'problem', tone: 'bad' },
  recovered: { lane: 'problems', icon: '✓', word: 'recovered', tone: 'good' },
  configuration: { lane: 'configuration', icon: '⚙', word: 'configuration', tone: 'good' },
  watchFailed: { lane: 'watches', icon: '✕', word: 'watch failed', tone: 'bad' },
  watchRecovered: { lane: 'watches', icon: '✓', word: 'watch recovered', tone: 'good' },
};

/** A newer proxy may know kinds that this page does not know. They are problems, so that nobody misses them. */
export function wordsOf({ kind }: Pick<HistoryRow, 'kind'>): KindWords {
  return KINDS[kind] ?? { lane: 'problems', icon: '?', word: kind, tone: 'warn' };
}

/** The lanes that the address names. None, or only unknown names, means all. */
export function parseKinds(text: string): ReadonlySet<LaneId> {
  const named = text.split(',');
  const found = LANES.filter(({ id }) => named.includes(id)).map(({ id }) => id);
  return new Set(found.length > 0 ? found : LANES.map(({ id }) => id));
}

/** Empty if all lanes are shown. */
export function formatKinds(shown: ReadonlySet<LaneId>): string {
  if (shown.size === LANES.length) return '';
  return LANES.filter(({ id }) => shown.has(id))
    .map(({ id }) => id)
    .join(',');
}

/** Shows one more lane, or one less. The last one stays. */
export function toggled(shown: ReadonlySet<LaneId>, id: LaneId): ReadonlySet<LaneId> {
  const next = new Set(shown);
  if (!next.delete(id)) next.add(id);
  return next.size === 0 ? shown : next;
}
