import type { Configuration } from '../config/index.ts';
import { toMilliseconds } from '../lib/duration.ts';
import type { Closers } from './closers.ts';
import { ConfigurationReload } from './configuration-reload.ts';
import type { Ending } from './ending.ts';
import { setOwnOomScore } from './oom-score.ts';
import type { DaemonOptions } from './options.ts';
import { CONFIGURATION_UPDATED, StartupError } from './startup-error.ts';
import type { Surroundings } from './surroundings.ts';

type Apply = (configuration: Configuration) => void;

/** Told once there is a proxy that can take over changes. */
export type FollowConfiguration = (apply: Apply) => void;

/**
 * Follows the configuration file from the first moment, so that one that keeps the proxy from starting can be put right.
 * Until there is a proxy every change takes a new start.
 */
export function followConfiguration(
  options: DaemonOptions,
  { metrics, checks, health, configured }: Surroundings,
  closers: Closers,
  ending: Ending,
): FollowConfiguration {
  let applyToProxy: Apply = () => ending.fail(new StartupError(CONFIGURATION_UPDATED));
  const reload = new ConfigurationReload({
    options,
    metrics,
    apply(next) {
      configured(next);
      health.setTimeoutMs(2 * toMilliseconds(next.syncPeriod));
      options.logControl.setVerbosity(next.logging.verbosity);
      options.logControl.setVModule(next.logging.vmodule);
      setOwnOomScore(next.linux.oomScoreAdj, options.log);
      applyToProxy(next);
    },
    restart: reason => ending.fail(reason),
  });
  checks.add('configuration', () => reload.refused);
  closers.add('configuration', () => reload.close());
  return apply => {
    applyToProxy = apply;
  };
}
