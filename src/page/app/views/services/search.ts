import { hostPort } from '../../parts/texts.ts';
import type { IndexedService } from '../../state/service-index.ts';

/** Whether a Service matches what the operator typed. */
export type Matcher = (service: IndexedService) => boolean;

/**
 * Every word must match. `shop/cart` and `cart` are part of a name, `10.96` and `30` are the beginning of an address or a
 * port, or part of a name, `:80` is a port, and `10.96.0.10:80` an address and a port.
 */
export function searchMatcher(text: string): Matcher | undefined {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const matchers = words.map(wordMatcher);
  const [only] = matchers;
  if (matchers.length <= 1) return only;
  return service => matchers.every(matches => matches(service));
}

function wordMatcher(word: string): Matcher {
  const port = /^:(\d+)$/.exec(word)?.[1];
  if (port !== undefined) return has(`\n${port}\n`);
  const target = parseTarget(word);
  if (target?.port !== undefined) {
    const hasIp = has(`\n${target.ip}\n`);
    const hasPort = has(`\n${target.port}\n`);
    return service => hasIp(service) && hasPort(service);
  }
  if (/^[\d.]+$/.test(word)) {
    const begins = has(`\n${word}`);
    return service => begins(service) || service.key.toLowerCase().includes(word);
  }
  return has(target?.ip ?? word);
}

function has(part: string): Matcher {
  return ({ haystack }) => haystack.includes(part);
}

/** An address that a caller could connect to. */
export interface Target {
  readonly ip: string;
  readonly port?: number;
}

/** Undefined if the text is no whole address: `10.96.0.10`, `10.96.0.10:80`, `fd00::1`, `[fd00::1]:80`. */
export function parseTarget(text: string): Target | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([\da-f:.]+)\]|([\d.]+))(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const ip = bracketed ?? plain ?? text;
  if (!(isIpv4(ip) && bracketed === undefined) && !isIpv6(ip)) return undefined;
  if (digits === undefined) return { ip: ip.toLowerCase() };
  const port = Number(digits);
  return port > 0 && port < 65_536 ? { ip: ip.toLowerCase(), port } : undefined;
}

function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every(part => /^\d{1,3}$/.test(part) && Number(part) < 256);
}

/** Good enough to offer a question. The proxy checks the address. */
function isIpv6(text: string): boolean {
  return /^[\da-f:.]+$/i.test(text) && text.split(':').length >= 3 && text.split('::').length <= 2;
}

/** `10.96.0.10:80`, `[fd00::1]:80` */
export function targetText({ ip, port }: Target): string {
  return port === undefined ? ip : hostPort(ip, port);
}
