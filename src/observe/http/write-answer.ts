import type { ServerResponse } from 'node:http';
import { withoutSecrets } from '../../lib/secrets.ts';
import type { HttpAnswer, HttpStream } from './answer.ts';
import type { HttpConnection } from './http-connection.ts';

export interface WriteOptions {
  readonly connection: HttpConnection;
  /** Added to those of the answer, unless it has its own. */
  readonly headers: Readonly<Record<string, string>>;
  /** Closes the connection if the caller has not taken a whole answer after this time. Streams have no such limit. */
  readonly answerTimeoutMs: number;
}

/** Writes an answer. Rejects if it has a header that HTTP does not allow, or if its stream fails. */
export async function writeAnswer(
  { status, headers: own, body }: HttpAnswer,
  response: ServerResponse,
  { connection, headers: added, answerTimeoutMs }: WriteOptions,
): Promise<void> {
  const headers = { ...added, ...own };
  if (isStream(body)) {
    if (!response.destroyed) response.writeHead(status, headers).flushHeaders();
    if (response.req.method === 'HEAD') return endUnread(body, response);
    await writeParts(body, response, connection);
    return;
  }
  if (response.destroyed) return;
  const shown = shownBytes(body);
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(shown) }).end(shown);
  const timeout = setTimeout(() => response.destroy(), answerTimeoutMs);
  response.once('close', () => clearTimeout(timeout));
}

function shownBytes(body: string | Uint8Array): string | Uint8Array {
  return typeof body === 'string' ? withoutSecrets(body) : body;
}

function isStream(body: HttpAnswer['body']): body is HttpStream {
  return typeof body === 'object' && Symbol.asyncIterator in body;
}

/** The answer to HEAD has no body, and a stream may be endless. */
async function endUnread(body: HttpStream, response: ServerResponse): Promise<void> {
  response.end();
  await body[Symbol.asyncIterator]().return?.();
}

/**
 * Writes part after part, each in its own turn. A caller that takes no byte for a while is disconnected, as with every
 * answer.
 */
async function writeParts(body: HttpStream, response: ServerResponse, connection: HttpConnection): Promise<void> {
  const parts = body[Symbol.asyncIterator]();
  try {
    while (!response.destroyed) {
      // The part is made in the turn, because that can take as long as writing it.
      await connection.turn();
      const { done, value } = await parts.next();
      if (done) return void response.end();
      if (!response.destroyed && !response.write(shownBytes(value))) await drained(response);
    }
  } finally {
    await parts.return?.();
  }
}

/** Resolves when the caller has taken what was written, or is gone. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      response.off('drain', end);
      response.off('close', end);
      resolve();
    };
    response.on('drain', end);
    response.on('close', end);
  });
}
