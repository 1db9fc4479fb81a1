import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { errorAnswer, ProxyClientError } from '../inspect/index.ts';
import type { HttpHandler, HttpStream } from '../observe/http/index.ts';

/** Asks a proxy. Rejects with a `ProxyClientError` if it does not answer. */
export type OpenQuestion = (question: string, options: { readonly signal: AbortSignal }) => Promise<IncomingMessage>;

/** The headers that belong to the answer. All others belong to the connection, or the page's server sets them. */
const KEPT_HEADERS = ['Content-Type', 'Retry-After', 'Allow', 'Pointsman-Network-Namespace'];

/**
 * Hands all requests on to a running proxy, and its answers back while they come. An answer waits when the caller does
 * not read. The question ends when the caller is gone. Answers 503 while no proxy listens.
 */
export function forwardTo(open: OpenQuestion): HttpHandler {
  return async ({ rawPath, rawQuery, disconnected }) => {
    try {
      const question = rawQuery === undefined ? rawPath : `${rawPath}?${rawQuery}`;
      const response = await open(question, { signal: disconnected });
      return { status: response.statusCode ?? 502, headers: kept(response.headers), body: parts(response) };
    } catch (error) {
      if (!(error instanceof ProxyClientError)) throw error;
      return errorAnswer(503, error.message, { 'Retry-After': '1' });
    }
  };
}

function kept(headers: IncomingHttpHeaders): Record<string, string> {
  const found = KEPT_HEADERS.flatMap(name => {
    const value = headers[name.toLowerCase()];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return Object.fromEntries(found);
}

async function* parts(response: IncomingMessage): HttpStream {
  try {
    yield* response;
  } finally {
    response.destroy();
  }
}
