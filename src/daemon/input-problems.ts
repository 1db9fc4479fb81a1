import { type KubeObject, objectKey } from '../api/index.ts';
import { CurrentProblems } from '../lib/current-problems.ts';
import type { Problem } from '../lib/problem.ts';
import type { CheckOutcome, Checks } from '../observe/health/index.ts';
import type { Logger } from '../observe/logging/index.ts';
import type { ProxyMetrics } from '../observe/metrics/index.ts';

/** Objects and manifests that cannot be used, as a whole or in part: logs and counts them, and lists them in /readyz. */
export class InputProblems {
  readonly #log: Logger;
  readonly #metrics: Pick<ProxyMetrics, 'inputProblem'>;
  readonly #current = new CurrentProblems();

  constructor(log: Logger, metrics: Pick<ProxyMetrics, 'inputProblem' | 'readInputProblems'>, checks: Checks) {
    this.#log = log;
    this.#metrics = metrics;
    metrics.readInputProblems(() => this.#current.size);
    checks.add('input', () => this.#outcome());
  }

  add(problem: Problem): void {
    const { where, object, field, message, kind, reason = 'invalid' } = problem;
    this.#log.warning('proxy', 'Input cannot be used', { where, object, field, reason: message });
    this.#metrics.inputProblem(kind, reason);
    // The Service that owns the address may go, and no event says that this ended the conflict.
    if (reason === 'conflict') return;
    // No source reports that such an object is good again. It may be, as soon as it changes.
    if (reason === 'internal' && object !== undefined) this.#current.set(object, problem);
    else this.#current.add(problem);
  }

  /** All problems that still exist. */
  get all(): readonly Problem[] {
    return this.#current.all;
  }

  /** The input at this place is valid again or gone. */
  recovered(where: string): void {
    this.#log.info('proxy', 'Problem with the input is over', { where });
    this.#current.clear(where);
  }

  /** If the new version of the object still has a problem, the proxy reports it again. */
  objectChanged({ kind, metadata }: KubeObject): void {
    this.#current.clear(`${kind} ${objectKey(metadata)}`);
  }

  /** All other objects are used, so the proxy is ready. */
  #outcome(): CheckOutcome | undefined {
    const { size, all } = this.#current;
    if (size === 0) return undefined;
    return { note: size === 1 ? '1 problem' : `${size} problems`, problems: all };
  }
}
