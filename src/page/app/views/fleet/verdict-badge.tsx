import type { NodeState, NodeVerdict } from './compare.ts';

const WORDS: Readonly<Record<NodeState, { readonly word: string; readonly sign: string; readonly tone: string }>> = {
  same: { word: 'as most', sign: '✓', tone: 'good' },
  behind: { word: 'behind', sign: '…', tone: 'warn' },
  ahead: { word: 'ahead', sign: '›', tone: 'accent' },
  differs: { word: 'different', sign: '≠', tone: 'bad' },
  setAside: { word: 'set aside', sign: '✕', tone: 'bad' },
  unknown: { word: 'unknown there', sign: '…', tone: 'warn' },
  silent: { word: 'no answer', sign: '○', tone: 'quiet' },
};

export function VerdictBadge({ state, good = WORDS.same.word }: { readonly state: NodeState; readonly good?: string }) {
  const { word, sign, tone } = WORDS[state];
  return (
    <span class={`badge ${tone}`}>
      <span aria-hidden="true">{sign}</span>
      {state === 'same' ? good : word}
    </span>
  );
}

const MAX_REASONS = 5;

export function Reasons({ reasons }: Pick<NodeVerdict, 'reasons'>) {
  const more = reasons.length - MAX_REASONS;
  return (
    <ul class="fleet-reasons">
      {reasons.slice(0, MAX_REASONS).map(reason => (
        <li key={reason}>{reason}</li>
      ))}
      {more > 0 && <li class="quiet">and {more} more</li>}
    </ul>
  );
}
