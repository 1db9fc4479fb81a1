import { isLoopback, parseIp } from '../../net/index.ts';

/** Where a pod serves its page. */
export interface PageTarget {
  readonly scheme: 'http' | 'https';
  readonly port: number;
}

/** `none`: there is no such flag. `loopback`: the API server does not reach the page. */
export type FoundPage = PageTarget | 'none' | 'loopback';

const ADDRESS_FLAG = '--page-bind-address';

/** Finds the page in the words of a pod's containers: their commands and arguments. */
export function pageInWords(words: readonly string[]): FoundPage {
  const address = lastValue(words, ADDRESS_FLAG);
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:]*)):(\d+)$/.exec(address ?? '') ?? [];
  if (port === undefined) return 'none';
  const ip = parseIp(bracketed ?? plain ?? '');
  if (ip !== undefined && isLoopback(ip)) return 'loopback';
  const isSecure = words.some(word => word.startsWith('--page-tls-'));
  return { scheme: isSecure ? 'https' : 'http', port: Number(port) };
}

/** The value of `--flag=value` or `--flag value`. The last one counts, as on the command line. */
function lastValue(words: readonly string[], flag: string): string | undefined {
  const at = words.findLastIndex(word => word === flag || word.startsWith(`${flag}=`));
  const word = words[at];
  if (word === undefined) return undefined;
  return word === flag ? words[at + 1] : word.slice(flag.length + 1);
}
