import { SECOND } from '../../../lib/duration.ts';
import { bool, duration, level, quantity, string, vmodule } from '../../flags/index.ts';
import { flag } from './define.ts';

const ALPHA = '[Alpha]';
const SPLIT =
  'write information to stdout and errors to stderr, rather than all to stderr. Needs the feature gate LoggingAlphaOptions.';
const BUFFER =
  'with split streams, information may wait in a buffer of so many bytes: 512, 1K, 2Ki, 3M, … Needs the feature gate LoggingAlphaOptions.';

/** The log. They count beside a configuration file, too. */
export const LOG_FLAGS = {
  'logging-format': flag(string, 'text', 'text or json.'),
  'log-flush-frequency': flag(duration, 5n * SECOND, 'How long information may wait in a buffer.'),
  v: flag(level, 0, 'Verbosity of the log.', { shorthand: 'v' }),
  vmodule: flag(
    vmodule,
    [],
    'Another verbosity for files whose name matches a pattern, separated by commas. Only in text.',
  ),
  'log-text-split-stream': flag(bool, false, `${ALPHA} In text, ${SPLIT}`),
  'log-text-info-buffer-size': flag(quantity, '0', `${ALPHA} In text ${BUFFER}`),
  'log-json-split-stream': flag(bool, false, `${ALPHA} In JSON, ${SPLIT}`),
  'log-json-info-buffer-size': flag(quantity, '0', `${ALPHA} In JSON ${BUFFER}`),
};
