import { formatDuration } from '../../lib/duration.ts';
import { goQuote } from '../../lib/go-quote.ts';
import type { Configuration } from '../configuration.ts';
import { type FieldError, invalid } from './field-error.ts';
import { validateNotNegative, validatePositive } from './numbers.ts';

export function validatePeriods(path: string, configuration: Configuration): FieldError[] {
  const { configSyncPeriod, syncPeriod, minSyncPeriod } = configuration;
  const errors = [
    ...validatePositive(`${path}.ConfigSyncPeriod`, configSyncPeriod),
    ...validatePositive(`${path}.SyncPeriod`, syncPeriod),
    ...validateNotNegative(`${path}.MinSyncPeriod`, minSyncPeriod),
  ];
  if (minSyncPeriod <= syncPeriod) return errors;
  // The path names one period and the value is the other's.
  const detail = `must be greater than or equal to ${path}.MinSyncPeriod`;
  return [...errors, invalid(`${path}.SyncPeriod`, goQuote(formatDuration(minSyncPeriod)), detail)];
}
