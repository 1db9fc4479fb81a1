import { errorAnswer, LOCAL_SITE, type OwnSite, ownSiteOnly } from '../inspect/index.ts';
import type { Clock } from '../lib/clock.ts';
import { parseIp } from '../net/index.ts';
import type { HttpAnswer, HttpHandler, HttpRequest } from '../observe/http/index.ts';
import { PeerRates } from './peer-rates.ts';
import { isToken, type PageToken, TOKEN_HEADER, tokenIn } from './token.ts';

/** A page that starts asks about twenty questions. Many people can be behind one address. */
const REQUESTS = { burst: 200, everyMs: 20 };
const WRONG_TOKENS = { burst: 10, everyMs: 5000 };
const MAX_URL_LENGTH = 4096;

export interface GuardOptions {
  /** Undefined at a loopback address, where only the users of the machine can ask. */
  readonly token: (() => PageToken) | undefined;
  /** The names of this machine, in lower case. They count at other addresses. */
  readonly hostNames: readonly string[];
  readonly clock: Clock;
}

/** Answers only requests that may come in: from the page itself, with the token, and not too many. */
export function guarded(handle: HttpHandler, { token, hostNames, clock }: GuardOptions): HttpHandler {
  const requests = new PeerRates(REQUESTS, clock);
  const inner = token
    ? withToken(handle, token, siteOf(hostNames), new PeerRates(WRONG_TOKENS, clock))
    : ownSiteOnly(handle, { ...LOCAL_SITE, isLinkable: isFile });
  return request => {
    if (!requests.take(request.peer)) return tooMany('too many requests: wait a second');
    if (request.rawPath.length + (request.rawQuery?.length ?? 0) > MAX_URL_LENGTH) {
      return errorAnswer(414, `the URL is too long: ${MAX_URL_LENGTH} characters are allowed`);
    }
    return inner(request);
  };
}

/** A name of another owner in the Host header can be DNS rebinding. An address cannot. */
function siteOf(hostNames: readonly string[]): OwnSite {
  return {
    scheme: 'https',
    names: `an IP address, localhost or ${hostNames.join(' or ')}`,
    isOwnName: name => name === 'localhost' || parseIp(name) !== undefined || hostNames.includes(name),
    isLinkable: isFile,
  };
}

/**
 * The files of the page have no secrets, and a browser loads them before it can ask for a token. A request with the
 * token may have any Host: the API server's proxy sends its own name, and no other site knows the token.
 */
function withToken(handle: HttpHandler, token: () => PageToken, site: OwnSite, failures: PeerRates): HttpHandler {
  const files = ownSiteOnly(handle, site);
  const api = ownSiteOnly(handle, { ...site, isOwnName: () => true });
  return request => {
    if (isFile(request.path)) return files(request);
    const refusal = tokenRefusal(request, token, failures);
    return refusal ? ownSiteOnly(() => refusal, site)(request) : api(request);
  };
}

function isFile(path: string): boolean {
  return path !== '/v1' && !path.startsWith('/v1/');
}

function tokenRefusal(
  { headers, peer }: HttpRequest,
  token: () => PageToken,
  failures: PeerRates,
): HttpAnswer | undefined {
  const given = tokenIn(headers);
  const advice = `send the token of the token file in the header Authorization: Bearer TOKEN, or ${TOKEN_HEADER}: TOKEN`;
  if (given === undefined) return unauthorized(`a token is missing: ${advice}`);
  // Without a comparison nobody learns whether the token was right.
  if (!failures.take(peer)) return tooMany('too many wrong tokens from this address: wait some seconds');
  if (!isToken(token(), given)) return unauthorized(`the token is wrong: ${advice}`);
  failures.giveBack(peer);
  return undefined;
}

function unauthorized(error: string): HttpAnswer {
  return errorAnswer(401, error, { 'WWW-Authenticate': 'Bearer' });
}

function tooMany(error: string): HttpAnswer {
  return errorAnswer(429, error, { 'Retry-After': '1' });
}
