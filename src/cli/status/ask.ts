import { get } from 'node:http';
import { splitHostPort } from '../../config/index.ts';
import { startDeadline } from '../../lib/deadline.ts';
import { errorCode } from '../../lib/error-code.ts';
import { joinHostPort } from '../../net/index.ts';

export type Answer =
  | { readonly kind: 'answer'; readonly status: number; readonly body: string }
  | { readonly kind: 'none'; readonly reason: string };

const TIMEOUT_MS = 3000;
/** The metrics of a node with very many service ports have a few megabytes. */
const MAX_BODY_BYTES = 64 << 20;

/** A server that listens at all addresses answers at the loopback address, too. */
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1', '': '127.0.0.1' };

/** Returns the address at which this machine reaches the server that listens at `address`. */
export function reachableAddress(address: string): string {
  const { host, port } = splitHostPort(address) ?? { host: address, port: '' };
  return joinHostPort(LOOPBACK[host] ?? host, port);
}

/** Asks a server of the proxy. Never rejects. */
export function ask(address: string, path: string): Promise<Answer> {
  return new Promise(resolve => {
    let deadline: { stop(): void } | undefined;
    const finish = (answer: Answer) => {
      deadline?.stop();
      resolve(answer);
    };
    const none = (reason: string) => finish({ kind: 'none', reason });
    try {
      const request = get(`http://${address}${path}`, { agent: false }, response => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (text: string) => {
          body += text;
          if (body.length > MAX_BODY_BYTES) request.destroy(new Error('the answer is too long'));
        });
        response.on('end', () => finish({ kind: 'answer', status: response.statusCode ?? 0, body }));
        // After `end` this has no effect.
        response.on('close', () => none('the connection broke off'));
      });
      request.on('error', error => none(reasonOf(error)));
      deadline = startDeadline(TIMEOUT_MS, () => request.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)));
    } catch (error) {
      none(error instanceof Error ? error.message : String(error));
    }
  });
}

function reasonOf(error: Error): string {
  return errorCode(error) === 'ECONNREFUSED' ? 'the connection is refused' : error.message;
}
