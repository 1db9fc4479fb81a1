import { goQuote } from '../../lib/go-quote.ts';
import { parseIp } from '../../net/index.ts';
import type { FlagType } from './flag.ts';

/** An address, kept as it was written. An empty text leaves what there is. */
export const ip: FlagType<string> = {
  word: 'ip',
  parse(text, current) {
    if (text === '') return current;
    if (parseIp(text) === undefined) throw new Error(`${goQuote(text)} is not a valid IP address`);
    return text;
  },
  format: value => value,
};

/** An address, or an address and a port, kept as it was written. An empty text leaves what there is. */
export const ipPort: FlagType<string> = {
  word: 'ipport',
  parse(text, current) {
    if (text === '') return current;
    if (parseIp(text) === undefined) checkHostPort(text);
    return text;
  },
  format: value => value,
};

function checkHostPort(text: string): void {
  const [host, port] = splitHostPort(text);
  if (parseIp(host) === undefined) throw new Error(`${goQuote(host)} is not a valid IP address`);
  if (!/^[0-9]+$/.test(port) || Number(port) > 0xffff) throw new Error(`${goQuote(port)} is not a valid number`);
}

/** As Go's net.SplitHostPort, with its words for what is wrong. */
function splitHostPort(text: string): readonly [host: string, port: string] {
  const fail = (why: string): never => {
    throw new Error(`${goQuote(text)} is not in a valid format (ip or ip:port): address ${text}: ${why}`);
  };
  const colon = text.lastIndexOf(':');
  if (colon < 0) return fail('missing port in address');
  if (!text.startsWith('[')) {
    const host = text.slice(0, colon);
    if (host.includes(':')) return fail('too many colons in address');
    return checkBrackets(host, text.slice(colon + 1), fail);
  }
  const end = text.indexOf(']');
  if (end < 0) return fail("missing ']' in address");
  if (end + 1 === text.length) return fail('missing port in address');
  if (end + 1 !== colon) return fail(text[end + 1] === ':' ? 'too many colons in address' : 'missing port in address');
  return checkBrackets(text.slice(1, end), text.slice(colon + 1), fail);
}

function checkBrackets(host: string, port: string, fail: (why: string) => never): readonly [string, string] {
  if (`${host}${port}`.includes('[')) return fail("unexpected '[' in address");
  if (`${host}${port}`.includes(']')) return fail("unexpected ']' in address");
  return [host, port];
}
