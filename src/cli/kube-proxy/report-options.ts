import type { DaemonOptions } from '../../daemon/index.ts';
import { toMilliseconds } from '../../lib/duration.ts';
import { FlagError, type FlagValues } from '../flags/index.ts';
import type { KubeProxyFlags } from './flags/index.ts';

/** Throws a FlagError. */
export function reportOptions(values: FlagValues<KubeProxyFlags>): DaemonOptions['reportProgrammed'] {
  if (!values['report-programmed']) return undefined;
  const namespace = values['report-programmed-namespace'];
  const intervalMs = toMilliseconds(values['report-programmed-interval']);
  if (namespace === '') throw new FlagError('--report-programmed-namespace must not be empty');
  if (intervalMs < 1000) throw new FlagError('--report-programmed-interval must be at least 1s');
  if (values.manifests !== '') throw new FlagError('--report-programmed needs an API server, so not --manifests');
  return { namespace, intervalMs };
}
