import { goQuote } from '../../lib/go-quote.ts';
import { type FieldError, invalid } from './field-error.ts';

/** Metrics that were hidden in this release are there one release longer, for those who name the one before. */
const PREVIOUS_MINOR = '1.35';

export function validateShowHiddenMetrics(path: string, version: string): FieldError[] {
  if (version === '' || version === PREVIOUS_MINOR) return [];
  const shown = goQuote(version);
  const rule = `must be omitted or have the value '${PREVIOUS_MINOR}'; only the previous minor version is allowed`;
  const name = 'showHiddenMetricsForVersion';
  return [invalid(path, shown, `invalid ${name}: ${name}: Invalid value: ${shown}: ${rule}`)];
}
