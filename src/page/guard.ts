import { errorAnswer, LOCAL_SITE, type OwnSite, siteRefusal } from '../inspect/index.ts';
import type { Clock } from '../lib/clock.ts';
import { parseIp } from '../net/index.ts';
import type { HttpAnswer, HttpHandler, HttpRequest } from '../observe/http/index.ts';
import { isFile } from './assets.ts';
import { PeerRates } from './peer-rates.ts';
import { isToken, type PageToken, TOKEN_HEADER, tokenIn } from './token.ts';

/** A page that starts asks about twenty questions. Many people can be behind one address. */
const REQUESTS = { burst: 200, everyMs: 20 };
const MAX_URL_LENGTH = 4096;

export interface GuardOptions {
  /** Undefined at a loopback address, where only the users of the machine can ask. */
  readonly token: (() => PageToken) | undefined;
  /** The names of this machine, in lower case. They count at other addresses. */
  readonly hostNames: readonly string[];
  readonly clock: Clock;
}

interface Admission {
  /** The request may see everything. So nobody else at the same address can have sent it. */
  readonly isTrusted: boolean;
  readonly refusal: HttpAnswer | undefined;
}

/**
 * Answers only requests that may come in: from the page itself, with the token, and not too many. Trusted requests have
 * a rate of their own. Otherwise a stranger behind the same NAT gateway or API server could lock the operator out.
 */
export function guarded(handle: HttpHandler, { token, hostNames, clock }: GuardOptions): HttpHandler {
  const [trusted, others] = [new PeerRates(REQUESTS, clock), new PeerRates(REQUESTS, clock)];
  const admit = token ? admitWithToken(token, siteOf(hostNames)) : admitLocal;
  return request => {
    const { isTrusted, refusal } = admit(request);
    if (!(isTrusted ? trusted : others).take(request.peer)) {
      return errorAnswer(429, 'too many requests: wait a second', { 'Retry-After': '1' });
    }
    if (request.rawPath.length + (request.rawQuery?.length ?? 0) > MAX_URL_LENGTH) {
      return errorAnswer(414, `the URL is too long: ${MAX_URL_LENGTH} characters are allowed`);
    }
    return refusal ?? handle(request);
  };
}

function admitLocal(request: HttpRequest): Admission {
  const refusal = siteRefusal(request, { ...LOCAL_SITE, isLinkable: isFile });
  return { isTrusted: refusal === undefined, refusal };
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
function admitWithToken(token: () => PageToken, site: OwnSite): (request: HttpRequest) => Admission {
  const anyHost = { ...site, isOwnName: () => true };
  return request => {
    if (isFile(request.path)) return { isTrusted: false, refusal: siteRefusal(request, site) };
    const refusal = tokenRefusal(request, token());
    if (refusal) return { isTrusted: false, refusal: siteRefusal(request, site) ?? refusal };
    return { isTrusted: true, refusal: siteRefusal(request, anyHost) };
  };
}

function tokenRefusal({ headers }: HttpRequest, token: PageToken): HttpAnswer | undefined {
  const given = tokenIn(headers);
  if (given !== undefined && isToken(token, given)) return undefined;
  const wrong = given === undefined ? 'a token is missing' : 'the token is wrong';
  const advice = `send the token of the token file in the header Authorization: Bearer TOKEN, or ${TOKEN_HEADER}: TOKEN`;
  return errorAnswer(401, `${wrong}: ${advice}`, { 'WWW-Authenticate': 'Bearer' });
}
