import type { Family } from '../../net/index.ts';

const AF_INET = 2;
const AF_INET6 = 10;

/** `struct nfgenmsg`, with which every message begins. Without a family the message concerns both. */
export function nfgenmsg(family: Family | undefined): Buffer {
  return Buffer.from([family === undefined ? 0 : family === 'IPv4' ? AF_INET : AF_INET6, 0, 0, 0]);
}

export function readFamily(number: number | undefined): Family | undefined {
  if (number === AF_INET) return 'IPv4';
  return number === AF_INET6 ? 'IPv6' : undefined;
}
