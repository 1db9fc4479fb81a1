import { type IncomingHttpHeaders, request } from 'node:http';
import type { Duplex } from 'node:stream';

export interface HttpCall {
  readonly port: number;
  readonly host?: string;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** An open connection, for example to another network namespace. */
  readonly connection?: Duplex;
  readonly signal?: AbortSignal;
}

export interface HttpReply {
  readonly status: number;
  /** All headers except Date, Connection and Keep-Alive. */
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly bytes: Buffer;
}

/** Sends one request over a connection of its own. */
export function httpCall(call: HttpCall): Promise<HttpReply> {
  const { port, host = '127.0.0.1', path = '/', method = 'GET', headers = {}, body, connection, signal } = call;
  return new Promise((resolve, reject) => {
    const options = connection ? { createConnection: () => connection } : { agent: false };
    const sent = request({ host, port, path, method, headers, signal, ...options }, response => {
      const chunks: Buffer[] = [];
      response.on('data', chunk => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const { date: _, connection: __, 'keep-alive': ___, ...rest } = response.headers;
        const bytes = Buffer.concat(chunks);
        connection?.destroy();
        resolve({ status: response.statusCode ?? 0, headers: rest, body: bytes.toString('utf8'), bytes });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
