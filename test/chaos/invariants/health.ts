import type { Violation } from './violation.ts';

/** The answers of the health server at one moment. A status is undefined if there was no answer. */
export interface HealthSample {
  readonly livez: number | undefined;
  readonly healthz: number | undefined;
  readonly readyz: number | undefined;
  /** The answer of `/readyz?verbose`. */
  readonly text: string;
}

/** What is known about the proxy at that moment. */
export interface KnownState {
  /** The process has run for a while, and no fault stops it. */
  readonly isRunning: boolean;
  /** The proxy has recovered from all faults. */
  readonly isRecovered: boolean;
  /** The configuration file has been invalid for a while. */
  readonly isMisconfigured: boolean;
  /** The API server has been stopped for a while. */
  readonly isCutOff: boolean;
}

const INVARIANT = 'health tells the truth';
/** The check of a watch that has no problem. */
const GOOD_WATCH = /^\[\+\]watch \/api\/v1\/services ok(: last message \d+ s ago)?$/m;

/** A proxy that runs is alive. One that has recovered is healthy and ready. One with an invalid file is not ready. */
export function judgeHealth(sample: HealthSample, known: KnownState): readonly Violation[] {
  const problems: string[] = [];
  if (known.isRunning && sample.livez !== 200) problems.push(`/livez is ${sample.livez}, and the proxy runs`);
  if (known.isRecovered && sample.healthz !== 200)
    problems.push(`/healthz is ${sample.healthz}, and the rules are right`);
  if (known.isRecovered && sample.readyz !== 200) problems.push(`/readyz is ${sample.readyz}, and the rules are right`);
  if (known.isMisconfigured && sample.readyz === 200)
    problems.push('/readyz is 200, and the configuration is not valid');
  const isWatchGood = GOOD_WATCH.test(sample.text);
  if (known.isCutOff && isWatchGood) problems.push('/readyz has no problem of a watch, and the API server is stopped');
  if (known.isRecovered && !isWatchGood) problems.push('/readyz has a problem of a watch, and the rules are right');
  return problems.map(problem => ({ invariant: INVARIANT, facts: `${problem}: ${sample.text.trim()}` }));
}
