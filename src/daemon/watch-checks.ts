import type { Checks } from '../observe/health/index.ts';
import type { Following } from '../source/index.ts';

/** Says for each resource whether all its objects have come, how long its watch has been silent, and what is wrong with it. */
export class WatchChecks {
  /** What keeps a resource from being followed, by its path. */
  readonly #problems = new Map<string, string>();

  problem(where: string, message: string): void {
    this.#problems.set(where, message);
  }

  recovered(where: string): void {
    this.#problems.delete(where);
  }

  addTo(checks: Checks, source: { following(): readonly Following[] }): void {
    for (const { path } of source.following()) {
      checks.add(`watch ${path}`, () => {
        const following = source.following().find(other => other.path === path);
        const problem = this.#problems.get(path);
        if (!following?.hasSynced) return `not all objects have come yet${problem === undefined ? '' : `: ${problem}`}`;
        // What was read stays in use, so a watch that is interrupted is no reason to be not ready.
        const heard = `last heard of ${Math.round((following.silentMs ?? 0) / 1000)} s ago`;
        return { note: problem === undefined ? heard : `${heard}; ${problem}` };
      });
    }
  }
}
