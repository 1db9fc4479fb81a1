import { type Duration, formatDuration } from '../../lib/duration.ts';
import { goQuote } from '../../lib/go-quote.ts';
import { type FieldError, invalid } from './field-error.ts';

export function validateRange(path: string, value: number | undefined, least: number, most: number): FieldError[] {
  if (value === undefined || (value >= least && value <= most)) return [];
  return [invalid(path, String(value), `must be within the range [${least}, ${most}]`)];
}

export function validateNotNegative(path: string, value: number | Duration | undefined): FieldError[] {
  if (value === undefined || value >= 0) return [];
  return [invalid(path, shown(value), 'must be greater than or equal to 0')];
}

export function validatePositive(path: string, value: Duration): FieldError[] {
  return value > 0n ? [] : [invalid(path, shown(value), 'must be greater than 0')];
}

function shown(value: number | Duration): string {
  return typeof value === 'bigint' ? goQuote(formatDuration(value)) : String(value);
}
