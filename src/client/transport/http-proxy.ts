import { cidrContains, isLoopback, parseCidr, parseIp } from '../../net/index.ts';
import { ApiError } from '../api-error.ts';
import type { Environment } from '../kubeconfig/in-cluster.ts';
import { hostName, portOf } from '../server-url.ts';

/** The proxy of a kubeconfig or of the environment. Throws an ApiError that says where an address cannot be used. */
export function checkedProxyUrl(text: string, where: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'socks5:' || url?.protocol === 'socks5h:') {
    throw new ApiError('configuration', `${where}: SOCKS proxies are not supported: use one for http or https`);
  }
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new ApiError('configuration', `${where}: ${JSON.stringify(text)} must be an http:// or https:// address`);
}

/** What HTTPS_PROXY, HTTP_PROXY and NO_PROXY say for a server, by Go's rules. */
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
    .some(entry => entry !== '' && exempts(entry, host, portOf(server)));
}

function exempts(entry: string, host: string, port: number): boolean {
  if (entry === '*') return true;
  const ip = parseIp(host);
  const cidr = parseCidr(entry);
  if (cidr) return ip !== undefined && cidrContains(cidr, ip);
  const bare = parseIp(entry);
  if (bare) return bare === ip;
  const [, bracketed, plain, ofPort] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [];
  const name = bracketed ?? plain;
  if (name === undefined || (ofPort !== undefined && Number(ofPort) !== port)) return false;
  const named = parseIp(name);
  if (named) return named === ip;
  const domain = name.replace(/^\*?\./, '');
  return host.endsWith(`.${domain}`) || (domain === name && host === domain);
}
