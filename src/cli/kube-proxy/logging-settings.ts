import { type LoggingConfiguration, parseQuantity, quantityValue } from '../../config/index.ts';
import { toMilliseconds } from '../../lib/duration.ts';
import type { LoggingSettings } from '../../observe/logging/index.ts';

/** How to log, as a valid configuration says it. */
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
