import { goQuote } from '../../lib/go-quote.ts';
import { validateCidrs } from './cidrs.ts';
import { type FieldError, invalid } from './field-error.ts';

/** CIDRs, or `primary` alone. What stands behind `primary` is not looked at. */
export function validateNodePortAddresses(path: string, addresses: readonly string[]): FieldError[] {
  const primary = addresses.indexOf('primary');
  const cidrs = primary < 0 ? addresses : addresses.slice(0, primary);
  const errors = validateCidrs(path, cidrs, 'must be a valid CIDR');
  if (primary < 0 || addresses.length === 1) return errors;
  return [...errors, invalid(`${path}[${primary}]`, goQuote('primary'), "can't use both 'primary' and CIDRs")];
}
