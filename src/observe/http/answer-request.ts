import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorText } from '../../lib/error-text.ts';
import { BAD_REQUEST, type HttpAnswer, type HttpHandler, type HttpRequest, textAnswer } from './answer.ts';
import type { HttpConnection } from './http-connection.ts';
import { parseTarget } from './request-target.ts';
import { writeAnswer } from './write-answer.ts';

export interface Exchange {
  readonly handle: HttpHandler;
  readonly headers: Readonly<Record<string, string>>;
  readonly connection: HttpConnection;
  readonly closed: AbortSignal;
  readonly answerTimeoutMs: number;
}

/** Calls the handler, and writes what it answers. Never rejects. */
export async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { handle, headers, connection, closed, answerTimeoutMs }: Exchange,
): Promise<void> {
  try {
    const parsed = parseRequest(request, connection.peer, closed);
    const result = parsed ? callHandler(handle, parsed) : BAD_REQUEST;
    if (result instanceof Promise) await result.then(() => connection.turn());
    await writeAnswer(await result, response, { connection, headers, answerTimeoutMs });
  } catch {
    // The answer has a header that HTTP does not allow, or a stream failed: then the caller must not take a part for all.
    response.destroy();
  }
}

function callHandler(handle: HttpHandler, request: HttpRequest): HttpAnswer | Promise<HttpAnswer> {
  const failed = (error: unknown) => textAnswer(500, `${errorText(error)}\n`);
  try {
    const result = handle(request);
    return result instanceof Promise ? result.catch(failed) : result;
  } catch (error) {
    return failed(error);
  }
}

function parseRequest(message: IncomingMessage, peer: string, closed: AbortSignal): HttpRequest | undefined {
  const target = parseTarget(message.url ?? '/');
  if (!target) return undefined;
  return {
    ...target,
    method: message.method ?? 'GET',
    query: new URLSearchParams(target.rawQuery ?? ''),
    headers: message.headers,
    peer,
    disconnected: closed,
    text: limit => readText(message, limit),
  };
}

async function readText(message: IncomingMessage, limit: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Destroying the message would close the connection, and the caller would get no answer.
  for await (const chunk of message.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
