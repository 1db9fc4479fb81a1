import type { History } from '../history/index.ts';
import type { Problem } from '../lib/problem.ts';
import type { CheckOutcome, Checks } from '../observe/health/index.ts';
import type { Logger } from '../observe/logging/index.ts';
import type { ProxyMetrics } from '../observe/metrics/index.ts';
import type { ClusterSourceOptions, Following } from '../source/index.ts';
import type { InputProblems } from './input-problems.ts';

/**
 * Checks for each resource that the API server has sent all its objects. Notes the age of its watch and its problem.
 */
export class WatchChecks {
  /** By the path of the resource. */
  readonly #problems = new Map<string, Problem>();

  setProblem(path: string, problem: Problem): void {
    this.#problems.set(path, problem);
  }

  clearProblem(path: string): void {
    this.#problems.delete(path);
  }

  problemOf(path: string): Problem | undefined {
    return this.#problems.get(path);
  }

  addTo(checks: Checks, source: { following(): readonly Following[] }): void {
    for (const { path } of source.following()) {
      checks.add(`watch ${path}`, () => this.#outcome(source.following().find(other => other.path === path)));
    }
  }

  #outcome(following: Following | undefined): CheckOutcome {
    const problem = following && this.#problems.get(following.path);
    const problems = problem ? [problem] : [];
    if (!following?.hasSynced) {
      return { isReady: false, note: 'the API server has not sent all objects yet', problems };
    }
    // The proxy goes on with the objects that it has, so it stays ready while a watch is interrupted.
    return { isReady: true, note: followingNote(following), problems };
  }
}

/** Only an optional resource counts as synced before the API server has sent anything. */
function followingNote({ silentMs }: Following): string {
  return silentMs === undefined ? 'optional, and not read yet' : silenceNote(silentMs);
}

/** API servers send a bookmark about once a minute. */
const SILENT_AFTER_MS = 90_000;

function silenceNote(silentMs: number): string {
  const note = `last message ${Math.round(silentMs / 1000)} s ago`;
  return silentMs < SILENT_AFTER_MS ? note : `the watch is silent: ${note}`;
}

const SILENCE_VARIABLE = 'WATCH_SILENCE_TIMEOUT_SECONDS';

/** How long a watch may be silent, from the environment; undefined means the default. */
export function watchSilenceMs(env: NodeJS.ProcessEnv, log: Logger): number | undefined {
  const value = env[SILENCE_VARIABLE] ?? '';
  if (/^[1-9]\d{0,5}$/.test(value)) return Number(value) * 1000;
  if (value !== '') log.warning('proxy', `${SILENCE_VARIABLE} is not a number of seconds; it is ignored`, { value });
  return undefined;
}

/** Reports to the log, the metrics and the checks the state of the watches, and the objects that cannot be used. */
export function watchReporter(
  log: Logger,
  metrics: Pick<ProxyMetrics, 'watchMessage'>,
  watchChecks: WatchChecks,
  input: InputProblems,
  history: History,
): ClusterSourceOptions['report'] {
  return {
    watchFailed(problem) {
      const { where, message } = problem;
      watchChecks.setProblem(where, problem);
      history.watchFailed(problem);
      log.error('reflector', 'Could not watch a resource; retrying', { where, err: message });
    },
    optionalUnavailable(problem) {
      const { where, message: reason } = problem;
      watchChecks.setProblem(where, problem);
      log.warning('reflector', 'Could not read an optional resource; the proxy works without it', { where, reason });
    },
    watchStalled(problem) {
      const { where, message } = problem;
      watchChecks.setProblem(where, problem);
      history.watchFailed(problem);
      log.warning('reflector', 'Waiting for objects', { where, reason: message });
    },
    watchRecovered(where) {
      watchChecks.clearProblem(where);
      history.watchRecovered(where);
      log.info('reflector', 'The resource is watched again', { where });
    },
    objectUnusable(problem) {
      input.add(problem);
      history.problem(problem);
    },
    objectRecovered(where) {
      input.recovered(where);
      history.recovered(where);
    },
    dataReceived: path => metrics.watchMessage(path),
  };
}
