import type { Random } from '../schedule/random.ts';
import type { World } from '../world/world.ts';

/**
 * What a fault takes from the proxy, until it has recovered:
 *  knowledge  the proxy cannot learn what the API server has, so connections may get what was true before
 *  rules      another program damages the rules, so new connections may fail
 *  connections  the process that carries connections stops (userspace mode), so established connections may end
 */
export type Impairment = 'knowledge' | 'rules' | 'connections';

/** What a fault works on. At one time, at most one fault works on a target. */
export type Target = 'proxy' | 'api' | 'network' | 'kernel';

/** The settings that the seed gives a fault. They are plain values, so that the schedule can be printed. */
export type Settings = Readonly<Record<string, number | string>>;

export interface Fault<S extends Settings = Settings> {
  readonly name: string;
  readonly target: Target;
  readonly impairs: readonly Impairment[];
  /** The time after the fault in which the proxy must be right again. */
  readonly recoveryMs: number;
  /** The process of the proxy may end because of the fault. The world starts it again, as the kubelet does. */
  readonly mayEndProxy?: boolean;
  /** The process of the proxy ends, stops, or cannot work. modes.ts says what that means in which mode. */
  readonly stopsProxy?: boolean;
  choose(random: Random): S;
  /** Resolves when the cause of the fault is gone. */
  run(world: World, settings: S): Promise<void>;
}
