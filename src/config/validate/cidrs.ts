import { parseCidr } from '../../net/index.ts';
import { quote } from '../go-text.ts';
import { type FieldError, invalid } from './field-error.ts';

export function validateCidrs(path: string, cidrs: readonly string[], detail: string): FieldError[] {
  return cidrs.flatMap((cidr, index) =>
    parseCidr(cidr) === undefined ? [invalid(`${path}[${index}]`, quote(cidr), detail)] : [],
  );
}
