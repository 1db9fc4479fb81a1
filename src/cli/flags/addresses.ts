import { type HostPort, HostPortError, parseHostPort } from '../../config/index.ts';
import { goQuote } from '../../lib/go-quote.ts';
import { isLoopback, parseIp } from '../../net/index.ts';
import type { FlagType } from './flag.ts';

/** An IP address, kept as the operator wrote it. An empty text leaves the current value. */
export const ip: FlagType<string> = {
  word: 'ip',
  parse(text, current) {
    if (text === '') return current;
    checkIp(text);
    return text;
  },
  format: value => value,
};

/** An IP address, with or without a port, kept as the operator wrote it. An empty text leaves the current value. */
export const ipPort: FlagType<string> = {
  word: 'ipport',
  parse(text, current) {
    if (text === '') return current;
    if (parseIp(text) === undefined) checkIpPort(text);
    return text;
  },
  format: value => value,
};

/** A loopback address with a port. An empty text is no address. */
export const loopbackPort: FlagType<string> = {
  word: 'ipport',
  parse(text) {
    if (text === '') return text;
    checkIpPort(text);
    const { host, port } = hostPortOf(text);
    const address = parseIp(host);
    if (address === undefined || !isLoopback(address)) {
      throw new Error(`${goQuote(host)} is not a loopback address: use 127.0.0.1 or [::1]`);
    }
    if (Number(port) === 0) throw new Error('the port must not be 0');
    return text;
  },
  format: value => value,
};

/** Any address with a port. Port 0 lets the kernel choose one. An empty text is no address. */
export const addressPort: FlagType<string> = {
  word: 'ipport',
  parse(text) {
    if (text !== '') checkIpPort(text);
    return text;
  },
  format: value => value,
};

function checkIpPort(text: string): void {
  const { host, port } = hostPortOf(text);
  checkIp(host);
  if (!/^[0-9]+$/.test(port) || Number(port) > 0xffff) throw new Error(`${goQuote(port)} is not a valid number`);
}

function checkIp(text: string): void {
  if (parseIp(text) === undefined) throw new Error(`${goQuote(text)} is not a valid IP address`);
}

function hostPortOf(text: string): HostPort {
  try {
    return parseHostPort(text);
  } catch (error) {
    if (!(error instanceof HostPortError)) throw error;
    throw new Error(`${goQuote(text)} is not in a valid format (ip or ip:port): address ${text}: ${error.message}`);
  }
}
