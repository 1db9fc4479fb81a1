import { type HttpAnswer, type HttpHandler, type HttpRequest, NOT_FOUND, textAnswer } from '../observe/http/index.ts';
import { answerAsset } from './assets.ts';

export interface PageHandlerOptions {
  /** Answers all paths below `/v1`. */
  readonly api: HttpHandler;
}

const SECURITY_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** The operator's page: its files, and the inspection API that they ask. It only reads. */
export function pageHandler({ api }: PageHandlerOptions): HttpHandler {
  return async request => {
    const answer = await answerOf(request, api);
    return { ...answer, headers: { ...answer.headers, ...SECURITY_HEADERS } };
  };
}

function answerOf(request: HttpRequest, api: HttpHandler): HttpAnswer | Promise<HttpAnswer> {
  const { path, method } = request;
  if (path === '/v1' || path.startsWith('/v1/')) return api(request);
  if (method !== 'GET' && method !== 'HEAD') return textAnswer(405, 'use GET\n');
  return answerAsset(request) ?? NOT_FOUND;
}
