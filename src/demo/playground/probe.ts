import { KernelError } from '../../kernel/errors.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { startDeadline } from '../../lib/deadline.ts';
import { errorCode } from '../../lib/error-code.ts';
import type { Ip } from '../../net/index.ts';
import { type Destination, type ExchangeOptions, exchange } from './exchange.ts';

export type ProbeProtocol = Destination['protocol'];

export interface ProbeOptions {
  /** The probe ends after this many tries in a row that show nothing new. The default is 24. */
  readonly tries?: number;
  /** The timeout of one try. The default is 600. */
  readonly timeoutMs?: number;
  /** Sends a datagram again after this time without an answer. By default the client sends it once. */
  readonly resendMs?: number;
  /** The address that the client connects from. */
  readonly source?: Ip;
}

export interface ProbeResult {
  /** How often each answer came. */
  readonly answers: ReadonlyMap<string, number>;
  /** `refused`, `timeout`, `empty` (the server hung up without an answer), or the name of the errno. */
  readonly failures: ReadonlySet<string>;
}

/**
 * Lets a client in the namespace ask a destination until enough tries in a row have shown nothing new. Ends after two
 * failures if no answer has come.
 */
export async function probe(
  namespace: NetworkNamespace,
  ip: Ip,
  port: number,
  protocol: ProbeProtocol,
  { tries = 24, timeoutMs = 600, resendMs, source }: ProbeOptions = {},
): Promise<ProbeResult> {
  const answers = new Map<string, number>();
  const failures = new Set<string>();
  let lastNew = 0;
  for (let attempt = 0; attempt - lastNew < tries; attempt++) {
    const { answer, failure } = await tryOnce(namespace, { ip, port, protocol }, timeoutMs, { source, resendMs });
    if (failure !== undefined) failures.add(failure);
    if (answer !== undefined) {
      if (!answers.has(answer)) lastNew = attempt;
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
    if (answers.size === 0 && attempt >= 1) break;
  }
  return { answers, failures };
}

interface Outcome {
  readonly answer?: string;
  readonly failure?: string;
}

async function tryOnce(
  namespace: NetworkNamespace,
  destination: Destination,
  timeoutMs: number,
  options: Omit<ExchangeOptions, 'signal'>,
): Promise<Outcome> {
  const controller = new AbortController();
  const deadline = startDeadline(timeoutMs, () => controller.abort(TIMEOUT));
  try {
    const answer = await exchange(namespace, destination, { ...options, signal: controller.signal });
    return answer === '' ? { failure: 'empty' } : { answer };
  } catch (error) {
    return { failure: failureOf(error) };
  } finally {
    deadline.stop();
  }
}

const TIMEOUT = Symbol('timeout');

function failureOf(error: unknown): string {
  if (error === TIMEOUT) return 'timeout';
  const errno = errnoOf(error);
  if (errno === undefined) throw error;
  if (errno === 'ECONNREFUSED') return 'refused';
  return errno === 'ETIMEDOUT' ? 'timeout' : errno;
}

function errnoOf(error: unknown): string | undefined {
  if (error instanceof KernelError) return error.errno;
  return errorCode(error);
}
