import { SECOND } from '../../../lib/duration.ts';
import { bool, duration, flag, level, quantity, string, vmodule } from '../../flags/index.ts';

const NEEDS_GATE = 'Needs the feature gate LoggingAlphaOptions.';
const SPLIT = `write informational lines to stdout and errors to stderr, instead of all lines to stderr. ${NEEDS_GATE}`;
const BUFFER = `buffer up to this many bytes of informational lines (e.g. 512, 1k, 2Ki, 3M). ${NEEDS_GATE}`;

/** Flags of the log. They take effect with a configuration file, too. */
export const LOG_FLAGS = {
  'logging-format': flag(string, 'text', 'Format of the log: text or json.'),
  'log-flush-frequency': flag(duration, 5n * SECOND, 'Longest time that a log line may wait in a buffer.'),
  v: flag(level, 0, 'Verbosity of the log.', { shorthand: 'v' }),
  vmodule: flag(
    vmodule,
    [],
    'Verbosity for files whose names match a pattern, as a comma-separated list. Only for the text format.',
  ),
  'log-text-split-stream': flag(bool, false, `[Alpha] In text format, ${SPLIT}`),
  'log-text-info-buffer-size': flag(quantity, '0', `[Alpha] In text format with split streams, ${BUFFER}`),
  'log-json-split-stream': flag(bool, false, `[Alpha] In JSON format, ${SPLIT}`),
  'log-json-info-buffer-size': flag(quantity, '0', `[Alpha] In JSON format with split streams, ${BUFFER}`),
};
