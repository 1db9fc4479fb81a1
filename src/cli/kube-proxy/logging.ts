import { type LoggingConfiguration, type OutputOptions, parseQuantity, quantityValue } from '../../config/index.ts';
import { toMilliseconds } from '../../lib/duration.ts';
import type { LoggingSettings } from '../../observe/logging/index.ts';
import type { ParsedFlags } from '../flags/index.ts';
import type { KubeProxyFlags } from './flags/index.ts';

/**
 * Overrides the logging configuration with the flags that were given. Patterns from flags come first, so that they take
 * precedence. As in upstream, only flags can split the streams: the setting of a file has no effect.
 */
export function overrideLogging(
  logging: LoggingConfiguration,
  { values, changed }: ParsedFlags<KubeProxyFlags>,
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

/** Converts a valid logging configuration. */
export function loggingSettings(logging: LoggingConfiguration): LoggingSettings {
  const format = logging.format === 'json' ? 'json' : 'text';
  const { splitStream, infoBufferSize } = logging.options[format];
  return {
    format,
    verbosity: logging.verbosity,
    vmodule: logging.vmodule,
    splitStream,
    infoBufferSize: Number(quantityValue(parseQuantity(infoBufferSize))),
    flushFrequencyMs: toMilliseconds(logging.flushFrequency),
  };
}
