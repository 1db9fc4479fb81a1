import { once } from 'node:events';
import { KernelError } from '../kernel/errors.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';
import { connectTcp, connectUdp } from '../kernel/sockets/index.ts';
import { startDeadline } from '../lib/deadline.ts';
import { errorCode } from '../lib/error-code.ts';
import type { Ip } from '../net/index.ts';

const TIMEOUT_MS = 1000;
const TOTAL_MS = 5000;
const CONCURRENCY = 16;
/** A probe with less time would only time out. */
const MIN_MS = 10;

export interface ProbedEndpoint {
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
  readonly ip: Ip;
  readonly port: number;
}

export interface ProbeOptions {
  /** By default the namespace of this process. It must stay open until the answer is there. */
  readonly namespace?: NetworkNamespace | undefined;
  /** By default one second. */
  readonly timeoutMs?: number | undefined;
}

export interface ProbeAllOptions extends ProbeOptions {
  /** How many endpoints to probe at a time. By default 16. */
  readonly concurrency?: number | undefined;
  /** The time for all probes together. By default five seconds. */
  readonly totalMs?: number | undefined;
}

/**
 * connected            TCP: the endpoint accepted. UDP: it answered.
 * refused              Nothing listens there, or a firewall rejects.
 * reset                The connection ended before it began.
 * timeout              No answer in time.
 * no route             A router, or the node itself, cannot reach the host.
 * network unreachable  The node has no route.
 * not permitted        A rule or a route of the node prohibits it.
 * cannot tell          UDP: no answer and no error came. That is normal.
 * unsupported          This program does not probe SCTP.
 * not probed           The time for all probes was over.
 * failed               Another error, see `detail`.
 */
export type ProbeOutcome =
  | 'connected'
  | 'refused'
  | 'reset'
  | 'timeout'
  | 'no route'
  | 'network unreachable'
  | 'not permitted'
  | 'cannot tell'
  | 'unsupported'
  | 'not probed'
  | 'failed';

export interface ProbeResult {
  readonly endpoint: ProbedEndpoint;
  readonly outcome: ProbeOutcome;
  /** How long the probe took, in milliseconds. */
  readonly ms: number;
  /** The kernel's error, if there was one: `ECONNREFUSED`. */
  readonly detail: string | undefined;
}

const OUTCOMES: ReadonlyMap<string, ProbeOutcome> = new Map<string, ProbeOutcome>([
  ['ECONNREFUSED', 'refused'],
  ['ECONNRESET', 'reset'],
  ['EPIPE', 'reset'],
  ['ETIMEDOUT', 'timeout'],
  ['EHOSTUNREACH', 'no route'],
  ['EHOSTDOWN', 'no route'],
  ['ENETUNREACH', 'network unreachable'],
  ['ENETDOWN', 'network unreachable'],
  // A blackhole route.
  ['EINVAL', 'no route'],
  ['EPERM', 'not permitted'],
  ['EACCES', 'not permitted'],
]);

/** Connects to the endpoint from the node, not through a Service. Never throws. */
export async function probe(endpoint: ProbedEndpoint, options: ProbeOptions = {}): Promise<ProbeResult> {
  const { namespace, timeoutMs = TIMEOUT_MS } = options;
  const begun = performance.now();
  const result = (outcome: ProbeOutcome, detail?: string): ProbeResult => ({
    endpoint,
    outcome,
    ms: performance.now() - begun,
    detail,
  });
  if (endpoint.protocol === 'SCTP') return result('unsupported');
  const controller = new AbortController();
  const { signal } = controller;
  const deadline = startDeadline(timeoutMs, () => controller.abort());
  try {
    if (endpoint.protocol === 'TCP') await probeTcp(namespace, endpoint, signal);
    else await probeUdp(namespace, endpoint, signal);
    return result('connected');
  } catch (error) {
    if (signal.aborted) return result(endpoint.protocol === 'UDP' ? 'cannot tell' : 'timeout');
    const errno = error instanceof KernelError ? error.errno : errorCode(error);
    return result(OUTCOMES.get(errno ?? '') ?? 'failed', errno ?? String(error));
  } finally {
    deadline.stop();
  }
}

/** Probes all endpoints, a few at a time. The results have the order of the endpoints. */
export async function probeAll(
  endpoints: readonly ProbedEndpoint[],
  { concurrency = CONCURRENCY, totalMs = TOTAL_MS, timeoutMs = TIMEOUT_MS, namespace }: ProbeAllOptions = {},
): Promise<readonly ProbeResult[]> {
  const end = performance.now() + totalMs;
  const results: ProbeResult[] = [];
  let next = 0;
  const work = async () => {
    for (let at = next++; at < endpoints.length; at = next++) {
      const endpoint = endpoints[at];
      const left = end - performance.now();
      if (!endpoint) continue;
      results[at] =
        left > MIN_MS
          ? await probe(endpoint, { namespace, timeoutMs: Math.min(timeoutMs, left) })
          : { endpoint, outcome: 'not probed', ms: 0, detail: undefined };
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, concurrency) }, work));
  return results;
}

async function probeTcp(
  namespace: NetworkNamespace | undefined,
  { ip, port }: ProbedEndpoint,
  signal: AbortSignal,
): Promise<void> {
  const connection = await connectTcp(namespace, ip, port, { signal });
  connection.on('error', () => {});
  connection.destroy();
}

/** Sends an empty datagram and waits for an answer or an error. Most programs do not answer it. */
async function probeUdp(
  namespace: NetworkNamespace | undefined,
  { ip, port }: ProbedEndpoint,
  signal: AbortSignal,
): Promise<void> {
  const socket = await connectUdp(namespace, ip, port, { signal });
  try {
    const answered = once(socket, 'message', { signal });
    socket.send(Buffer.alloc(0), error => error && socket.emit('error', error));
    await answered;
  } finally {
    socket.on('error', () => {});
    socket.close();
  }
}
