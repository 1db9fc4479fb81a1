import { type Duration, formatDuration } from '../../lib/duration.ts';
import { goQuote } from '../../lib/go-quote.ts';
import { parseCidr, parseIp } from '../../net/index.ts';
import { splitHostPort } from '../ports.ts';
import { type FieldError, invalid } from './field-error.ts';

export function validateRange(path: string, value: number | undefined, min: number, max: number): FieldError[] {
  if (value === undefined || (value >= min && value <= max)) return [];
  return [invalid(path, String(value), `must be within the range [${min}, ${max}]`)];
}

export function validateNotNegative(path: string, value: number | Duration | undefined): FieldError[] {
  if (value === undefined || value >= 0) return [];
  return [invalid(path, valueText(value), 'must be greater than or equal to 0')];
}

export function validatePositive(path: string, value: Duration): FieldError[] {
  return value > 0n ? [] : [invalid(path, valueText(value), 'must be greater than 0')];
}

export function validateNotEmpty(path: string, text: string): FieldError[] {
  return text === '' ? [invalid(path, goQuote(text), 'must not be empty')] : [];
}

export function validateCidrs(path: string, cidrs: readonly string[], detail: string): FieldError[] {
  return cidrs.flatMap((cidr, index) =>
    parseCidr(cidr) === undefined ? [invalid(`${path}[${index}]`, goQuote(cidr), detail)] : [],
  );
}

export function validateIp(path: string, address: string): FieldError[] {
  if (parseIp(address) !== undefined) return [];
  return [invalid(path, goQuote(address), 'not a valid textual representation of an IP address')];
}

export function validateHostPort(path: string, text: string): FieldError[] {
  const parts = splitHostPort(text);
  if (!parts) return [invalid(path, goQuote(text), 'must be IP:port')];
  const errors: FieldError[] = [];
  if (parseIp(parts.host) === undefined) errors.push(invalid(path, goQuote(parts.host), 'must be a valid IP'));
  const port = /^[-+]?[0-9]+$/.test(parts.port) ? Number(parts.port) : 0;
  if (port < 1 || port > 65535) errors.push(invalid(path, goQuote(parts.port), 'must be a valid port'));
  return errors;
}

function valueText(value: number | Duration): string {
  return typeof value === 'bigint' ? goQuote(formatDuration(value)) : String(value);
}
