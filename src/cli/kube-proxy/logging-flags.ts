import type { LoggingConfiguration, OutputOptions } from '../../config/index.ts';
import type { FlagValues } from '../flags/index.ts';
import type { KubeProxyFlags } from './flags/index.ts';

type Changed = ReadonlySet<keyof KubeProxyFlags>;

/**
 * What is said of the log, with the flags that were given over it. Patterns of flags come first, so that they count.
 * Split streams are the flags' alone: kube-proxy forgets what a file says of them.
 */
export function loggingFromFlags(
  logging: LoggingConfiguration,
  values: FlagValues<KubeProxyFlags>,
  changed: Changed,
): LoggingConfiguration {
  const output = (name: 'text' | 'json'): OutputOptions => ({
    splitStream: values[`log-${name}-split-stream`],
    infoBufferSize: changed.has(`log-${name}-info-buffer-size`)
      ? values[`log-${name}-info-buffer-size`]
      : logging.options[name].infoBufferSize,
  });
  return {
    ...logging,
    format: changed.has('logging-format') ? values['logging-format'] : logging.format,
    flushFrequency: changed.has('log-flush-frequency') ? values['log-flush-frequency'] : logging.flushFrequency,
    verbosity: changed.has('v') ? values.v : logging.verbosity,
    vmodule: [...values.vmodule, ...logging.vmodule],
    options: { text: output('text'), json: output('json') },
  };
}
