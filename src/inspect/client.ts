import { get, type IncomingMessage } from 'node:http';
import { startDeadline } from '../lib/deadline.ts';
import { errorCode } from '../lib/error-code.ts';
import { isRecord } from '../lib/is-record.ts';
import { parseJson } from '../lib/parse-json.ts';
import { sleep } from '../lib/sleep.ts';
import { NAMESPACE_HEADER } from './handler.ts';

export const DEFAULT_SOCKET = '/run/pointsman/kube-proxy.sock';

const TIMEOUT_MS = 15_000;
const MAX_BODY_BYTES = 64 << 20;
const MAX_LINE_LENGTH = 16 << 20;
const MAX_RETRIES = 5;

/**
 * no-socket   there is no socket, or no process listens at it
 * denied      the user may not open the socket
 * elsewhere   the proxy runs in another network namespace
 * refused     the proxy does not answer this question; the message says why
 * broken      the answer is incomplete, late, or no answer of Pointsman
 */
export type ProxyClientErrorKind = 'no-socket' | 'denied' | 'elsewhere' | 'refused' | 'broken';

/** The proxy did not answer. The message is the reason, and then the advice what to do. */
export class ProxyClientError extends Error {
  override readonly name = 'ProxyClientError';
  readonly kind: ProxyClientErrorKind;
  readonly reason: string;

  constructor(
    kind: ProxyClientErrorKind,
    reason: string,
    { advice, cause }: { advice?: string; cause?: unknown } = {},
  ) {
    super(advice === undefined ? reason : `${reason}: ${advice}`, { cause });
    this.kind = kind;
    this.reason = reason;
  }
}

export interface AskOptions {
  /** The network namespace that the proxy must be in. By default any. */
  readonly networkNamespace?: string | undefined;
  /** How long the proxy may take, from the question to the end of the answer; in a stream, to its next bytes. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Asks the proxy that listens at the socket. Rejects with a `ProxyClientError`. */
export async function askProxy(socketPath: string, path: string, options: AskOptions = {}): Promise<unknown> {
  return parsed(await askProxyText(socketPath, path, options), path);
}

/** The answer as text. */
export async function askProxyText(socketPath: string, path: string, options: AskOptions = {}): Promise<string> {
  const response = await open(socketPath, path, options);
  let body = '';
  for await (const text of texts(response, options)) {
    body += text;
    if (body.length > MAX_BODY_BYTES) throw new ProxyClientError('broken', `the answer to ${path} is too long`);
  }
  return body;
}

/** The lines of a stream, one after the other. The caller may stop at any time. */
export async function* readProxyLines(
  socketPath: string,
  path: string,
  options: AskOptions = {},
): AsyncGenerator<unknown, void> {
  const response = await open(socketPath, path, options);
  let rest = '';
  for await (const text of texts(response, options)) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_LENGTH) throw new ProxyClientError('broken', `a line of ${path} is too long`);
    for (const line of lines) if (line !== '') yield parsed(line, path);
  }
  if (rest !== '') throw new ProxyClientError('broken', `the answer to ${path} ended in the middle of a line`);
}

/** The answer as the proxy gives it, whatever its status. The caller reads it or destroys it. */
export async function openProxyAnswer(
  socketPath: string,
  path: string,
  options: AskOptions = {},
): Promise<IncomingMessage> {
  const response = await send(socketPath, path, options);
  try {
    checkNamespace(response, socketPath, options);
    return response;
  } catch (error) {
    response.destroy();
    throw error;
  }
}

function parsed(text: string, path: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const reason = `the answer to ${path} is no JSON`;
    throw new ProxyClientError('broken', reason, { advice: 'is this a Pointsman proxy?', cause: error });
  }
}

/** Opens a question. Asks again if the proxy is busy. */
async function open(socketPath: string, path: string, options: AskOptions): Promise<IncomingMessage> {
  for (let attempt = 0; ; attempt++) {
    const response = await openProxyAnswer(socketPath, path, options);
    const status = response.statusCode ?? 0;
    if (status === 200) return response;
    if (status !== 429 || attempt === MAX_RETRIES || options.signal?.aborted) {
      throw await refusal(response, path, options);
    }
    response.destroy();
    await sleep(1000 * Number(response.headers['retry-after'] ?? 1), undefined, options.signal);
  }
}

function send(socketPath: string, path: string, { timeoutMs = TIMEOUT_MS, signal }: AskOptions) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const request = get({ socketPath, path, agent: false, headers: { Host: 'localhost' }, signal }, response => {
      deadline.stop();
      resolve(response);
    });
    const deadline = startDeadline(timeoutMs, () => request.destroy(late(timeoutMs)));
    request.on('error', error => {
      deadline.stop();
      reject(error instanceof ProxyClientError ? error : connectError(socketPath, error));
    });
  });
}

/** The texts of an answer. Rejects if it breaks off, or if nothing comes for too long. */
async function* texts(response: IncomingMessage, { timeoutMs = TIMEOUT_MS }: AskOptions): AsyncGenerator<string, void> {
  response.setEncoding('utf8');
  let deadline = startDeadline(timeoutMs, () => response.destroy(late(timeoutMs)));
  try {
    for await (const text of response) {
      deadline.stop();
      yield text;
      deadline = startDeadline(timeoutMs, () => response.destroy(late(timeoutMs)));
    }
  } catch (error) {
    if (error instanceof ProxyClientError) throw error;
    const advice = 'did the proxy end? Ask again';
    throw new ProxyClientError('broken', 'the answer broke off', { advice, cause: error });
  } finally {
    deadline.stop();
    response.destroy();
  }
}

function late(timeoutMs: number): ProxyClientError {
  return new ProxyClientError('broken', `the proxy did not answer within ${timeoutMs / 1000} s`);
}

function checkNamespace({ headers }: IncomingMessage, socketPath: string, { networkNamespace }: AskOptions): void {
  const found = headers[NAMESPACE_HEADER.toLowerCase()];
  if (networkNamespace === undefined || found === undefined || found === networkNamespace) return;
  throw new ProxyClientError(
    'elsewhere',
    `the proxy at ${socketPath} works in another network namespace (${found}) than this command (${networkNamespace})`,
    { advice: 'run the command there, or name the socket with --inspect-socket' },
  );
}

async function refusal(response: IncomingMessage, path: string, options: AskOptions): Promise<ProxyClientError> {
  let body = '';
  for await (const text of texts(response, options)) if (body.length < 10_000) body += text;
  const reason = reasonIn(body);
  if (response.statusCode === 404 && reason !== undefined) {
    return new ProxyClientError('refused', `the proxy does not know ${path}: it is older than this command`);
  }
  return new ProxyClientError('refused', reason ?? `the proxy answered with the status ${response.statusCode}`);
}

function reasonIn(body: string): string | undefined {
  try {
    const answer = parseJson(body);
    return isRecord(answer) && typeof answer.error === 'string' ? answer.error : undefined;
  } catch {
    return undefined;
  }
}

const IN_THE_POD = 'or run the command in its pod: kubectl -n kube-system exec POD -- kube-proxy …';

function connectError(socketPath: string, error: Error): ProxyClientError {
  const at = `at ${socketPath}`;
  const failure = (kind: ProxyClientErrorKind, reason: string, advice?: string) =>
    new ProxyClientError(kind, reason, advice === undefined ? { cause: error } : { advice, cause: error });
  switch (errorCode(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return failure(
        'no-socket',
        `there is no socket ${at}`,
        `check that a Pointsman proxy runs on this node, ${IN_THE_POD}`,
      );
    case 'ECONNREFUSED':
    case 'ENOTSOCK':
      return failure('no-socket', `no proxy listens ${at}`, `it has ended. Start it, ${IN_THE_POD}`);
    case 'EACCES':
    case 'EPERM':
      return failure('denied', `only root may open the socket ${at}`, 'run the command as root');
    case 'ABORT_ERR':
      return failure('broken', 'the question was given up');
    default:
      return failure('broken', `the proxy does not answer ${at}: ${error.message}`);
  }
}
