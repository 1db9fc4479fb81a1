import { goQuote } from '../../lib/go-quote.ts';
import { type FieldError, invalid } from './field-error.ts';

/** userspace is ours; the words that refuse other modes stay as people know them. */
const MODES = ['', 'iptables', 'ipvs', 'nftables', 'userspace'];

export function validateMode(path: string, mode: string): FieldError[] {
  if (MODES.includes(mode)) return [];
  const blank = 'blank (blank means the best-available proxy [currently iptables])';
  return [invalid(`${path}.ProxyMode`, goQuote(mode), `must be iptables, ipvs, nftables or ${blank}`)];
}
