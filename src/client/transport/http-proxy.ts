import { cidrContains, isLoopback, parseCidr, parseIp } from '../../net/index.ts';
import { ApiError } from '../api-error.ts';
import type { Environment } from '../client-config.ts';
import { hostName, portOf } from '../server-url.ts';

/** Throws an ApiError if the address cannot be used. `where` names the field or variable in the error. */
export function checkedProxyUrl(text: string, where: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'socks5:' || url?.protocol === 'socks5h:') {
    throw new ApiError('configuration', `${where}: SOCKS proxies are not supported: use an http or https proxy`);
  }
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new ApiError(
    'configuration',
    `${where}: ${JSON.stringify(withoutUser(text))} must be an http:// or https:// address`,
  );
}

/** The address may contain a password. */
function withoutUser(text: string): string {
  return text.replace(/[^/]*@/, '');
}

/** The HTTP proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY choose for a server, by Go's rules. */
export function proxyFromEnvironment(server: URL, env: Environment): URL | undefined {
  const name = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const value = env[name] || env[name.toLowerCase()];
  if (!value || isExempt(server, env.NO_PROXY || env.no_proxy || '')) return undefined;
  return checkedProxyUrl(value.includes('://') ? value : `http://${value}`, `the environment variable ${name}`);
}

function isExempt(server: URL, noProxy: string): boolean {
  const host = hostName(server).toLowerCase();
  const ip = parseIp(host);
  if (host === 'localhost' || (ip && isLoopback(ip))) return true;
  return noProxy
    .split(',')
    .map(entry => entry.trim().toLowerCase())
    .some(entry => entry !== '' && matches(entry, host, portOf(server)));
}

/** Whether an entry of NO_PROXY is this host, or contains it. */
function matches(entry: string, host: string, port: number): boolean {
  if (entry === '*') return true;
  const ip = parseIp(host);
  const cidr = parseCidr(entry);
  if (cidr) return ip !== undefined && cidrContains(cidr, ip);
  const entryIp = parseIp(entry);
  if (entryIp) return entryIp === ip;
  const [, bracketed, plain, entryPort] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [];
  const name = bracketed ?? plain;
  if (name === undefined || (entryPort !== undefined && Number(entryPort) !== port)) return false;
  const namedIp = parseIp(name);
  if (namedIp) return namedIp === ip;
  const domain = name.replace(/^\*?\./, '');
  return host.endsWith(`.${domain}`) || (domain === name && host === domain);
}
