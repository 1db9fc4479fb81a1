import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback, parseIp } from '../net/index.ts';
import type { HttpAnswer, HttpHandler, HttpRequest } from '../observe/http/index.ts';
import { errorAnswer } from './answers.ts';

/** The names that a server has for browsers. */
export interface OwnSite {
  readonly scheme: 'http' | 'https';
  /** The names in words, for a refusal: `localhost or a loopback address`. */
  readonly names: string;
  /** `name` is in lower case, without the port and the brackets. */
  isOwnName(name: string): boolean;
  /** Whether links of other sites may lead to this path. By default to none. */
  isLinkable?(path: string): boolean;
}

export const LOCAL_SITE: OwnSite = { scheme: 'http', names: 'localhost or a loopback address', isOwnName: isLocalName };

/** Answers only requests to localhost or to a loopback address. */
export function localOnly(handle: HttpHandler): HttpHandler {
  return request => siteRefusal(request, LOCAL_SITE) ?? handle(request);
}

/**
 * Refuses what another site may have made a browser send. A name that leads to the server's address (DNS rebinding) is
 * in the Host header, and a page of another site is in the Origin header.
 */
export function siteRefusal(request: HttpRequest, site: OwnSite): HttpAnswer | undefined {
  const reason = refusal(request, site);
  return reason === undefined ? undefined : errorAnswer(403, reason);
}

function refusal(
  { headers, path }: HttpRequest,
  { scheme, names, isOwnName, isLinkable }: OwnSite,
): string | undefined {
  const { host = '', origin } = headers;
  if (!isOwnName(hostnameOf(host))) return `the Host header must be ${names}`;
  if (origin !== undefined && origin !== `${scheme}://${host}`) return 'pages of other sites may not ask';
  if (isFollowedLink(headers) && isLinkable?.(path)) return undefined;
  const site = headers['sec-fetch-site'];
  // Browsers send this header also with requests that have no Origin. Other programs do not send it.
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return 'pages of other sites may not ask';
  return undefined;
}

/** The browser shows the answer in a tab. No script of the other site can read it. */
function isFollowedLink(headers: IncomingHttpHeaders): boolean {
  return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}

/** `localhost:1`, `127.0.0.1` or `[::1]:1` without the port and the brackets. */
function hostnameOf(host: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d+)?$/.exec(host) ?? [];
  return (bracketed ?? plain ?? '').toLowerCase();
}

function isLocalName(name: string): boolean {
  if (name === 'localhost') return true;
  const ip = parseIp(name);
  return ip !== undefined && isLoopback(ip);
}
