import { goQuote } from '../../lib/go-quote.ts';
import { parseCidr } from '../../net/index.ts';
import { type FieldError, invalid } from './field-error.ts';

export function validateCidrs(path: string, cidrs: readonly string[], detail: string): FieldError[] {
  return cidrs.flatMap((cidr, index) =>
    parseCidr(cidr) === undefined ? [invalid(`${path}[${index}]`, goQuote(cidr), detail)] : [],
  );
}
