import { ApiError } from './api-error.ts';

/**
 * The address of an API server. An address without a scheme means plain HTTP, as in client-go. `where` names the flag
 * or field in the error.
 */
export function serverUrl(text: string, where: string): URL {
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  const isUsable = url && (url.protocol === 'https:' || url.protocol === 'http:') && url.hostname !== '';
  if (!isUsable || (whole !== text && url.pathname !== '/')) {
    throw new ApiError('configuration', `${where}: host must be a URL or a host:port pair: ${JSON.stringify(text)}`);
  }
  url.search = '';
  url.hash = '';
  return url;
}

/** The host without the brackets of an IPv6 address. */
export function hostName(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

export function portOf(url: URL): number {
  return Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
}

/** Host and port, as messages and metrics show them. */
export function addressOf(url: URL): string {
  return `${url.hostname}:${portOf(url)}`;
}
