import type { NextStep, Verdict } from './explanation.ts';
import type { Finding } from './finding.ts';
import type { Outcome } from './outcome.ts';

export interface Judgement {
  readonly verdict: Verdict;
  readonly summary: string;
  readonly next: NextStep | undefined;
}

/**
 * One verdict from all findings. The first bad finding is the reason, because later ones follow from it. Without a bad
 * one, something that could not be found out makes the verdict unknown.
 */
export function judge(findings: readonly Finding[], outcome: Outcome | undefined, works: string): Judgement {
  const bad = findings.find(({ verdict }) => verdict === 'bad');
  const blind = findings.find(({ isBlind }) => isBlind === true);
  if (blind) return { verdict: 'unknown', summary: blind.summary ?? blind.text, next: blind.next };
  if (bad) {
    const nextOf = bad.next ?? findings.find(({ verdict, next }) => verdict === 'bad' && next)?.next;
    const isDoubtful = findings.some(({ topic, verdict }) => topic === 'knowledge' && verdict === 'unknown');
    const doubt = isDoubtful ? ' But the knowledge of the proxy may be old or incomplete.' : '';
    return { verdict: 'broken', summary: `${bad.summary ?? bad.text}${doubt}`, next: nextOf };
  }
  const open = findings.find(({ verdict }) => verdict === 'unknown');
  if (open || outcome?.kind !== 'answered') {
    const reason = open?.summary ?? open?.text ?? 'The proxy does not know enough.';
    const summary = outcome?.kind === 'answered' ? `By the plan it works, but this is not certain. ${reason}` : reason;
    return { verdict: 'unknown', summary, next: open?.next };
  }
  return { verdict: 'works', summary: works, next: findings.find(({ next }) => next)?.next };
}
