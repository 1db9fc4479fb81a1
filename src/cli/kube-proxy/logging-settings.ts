import { type LoggingConfiguration, parseQuantity } from '../../config/index.ts';
import { toMilliseconds } from '../../lib/duration.ts';
import type { LoggingSettings } from '../../logging/index.ts';

/** How to log, as a valid configuration says it. */
export function loggingSettings(logging: LoggingConfiguration): LoggingSettings {
  const format = logging.format === 'json' ? 'json' : 'text';
  const { splitStream, infoBufferSize } = logging.options[format];
  return {
    format,
    verbosity: logging.verbosity,
    vmodule: logging.vmodule,
    splitStream,
    infoBufferSize: bytesOf(infoBufferSize),
    flushFrequencyMs: toMilliseconds(logging.flushFrequency),
  };
}

function bytesOf(quantity: string): number {
  const { digits, exponent } = parseQuantity(quantity);
  return Math.ceil(Number(digits) * 10 ** exponent);
}
