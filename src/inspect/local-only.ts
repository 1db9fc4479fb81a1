import { isLoopback, parseIp } from '../net/index.ts';
import type { HttpHandler, HttpRequest } from '../observe/http/index.ts';
import { errorAnswer } from './answers.ts';

/**
 * Refuses what another site may have made a browser send. A name that leads to a loopback address (DNS rebinding) is in
 * the Host header, and a page of another site is in the Origin header.
 */
export function localOnly(handle: HttpHandler): HttpHandler {
  return request => {
    const reason = refusal(request);
    return reason === undefined ? handle(request) : errorAnswer(403, reason);
  };
}

function refusal({ headers }: HttpRequest): string | undefined {
  const { host = '', origin } = headers;
  if (!isLocalHost(hostnameOf(host))) return 'the Host header must be localhost or a loopback address';
  if (origin !== undefined && origin !== `http://${host}`) return 'pages of other sites may not ask';
  const site = headers['sec-fetch-site'];
  // Browsers send this header also with requests that have no Origin. Other programs do not send it.
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return 'pages of other sites may not ask';
  return undefined;
}

/** `localhost:1`, `127.0.0.1` or `[::1]:1` without the port and the brackets. */
function hostnameOf(host: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d+)?$/.exec(host) ?? [];
  return (bracketed ?? plain ?? '').toLowerCase();
}

function isLocalHost(name: string): boolean {
  if (name === 'localhost') return true;
  const ip = parseIp(name);
  return ip !== undefined && isLoopback(ip);
}
