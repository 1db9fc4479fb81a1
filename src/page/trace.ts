import { linesAnswer, QueryError, type Route } from '../inspect/index.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { errorText } from '../lib/error-text.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { probe } from '../machine/index.ts';
import {
  type FindService,
  legacyNotice,
  type NamedSelection,
  type OpenTracer,
  packetLine,
  parseSelection,
  runTrace,
  SelectionError,
  TRACE_SCHEMA,
  TraceError,
  type TracerOptions,
} from '../trace/index.ts';
import { LineQueue } from './line-queue.ts';
import type { TraceLine } from './trace-lines.ts';
import { type IsServed, type SentConnection, sentConnection } from './trace-send.ts';

const MAX_SECONDS = 60;
const MAX_PACKETS = 200;
const SEND_TIMEOUT_MS = 3000;
/** A caller that stops a trace and starts the next one is faster than the end of the first. */
const GRACE_MS = 1000;

export interface TraceRouteOptions {
  readonly findService: FindService;
  readonly isServed: IsServed;
  /** By default the namespace of this process. */
  readonly namespace?: TracerOptions['namespace'];
  readonly clock?: Clock;
  /** Tests give tracers of their own. */
  readonly open?: OpenTracer;
}

/** Follows real packets while the caller reads. Make it once in a process: it runs one trace at a time. */
export function traceRoute(options: TraceRouteOptions): Route {
  let running: Promise<void> | undefined;
  return {
    path: '/v1/trace',
    about: 'the way of real packets through the rules of the node, as they come, one JSON object a line',
    parameters: {
      from: { about: 'only packets from this IP or CIDR, or from the node itself: node' },
      to: { about: 'SERVICE[:PORT], IP[:PORT][/udp], a CIDR or node:PORT', isRequired: true },
      send: {
        about: 'the node itself opens one connection to the destination, which a Service must have',
        words: ['true', 'false'],
      },
    },
    async answer(query) {
      const named = await selectionOf(query.get('from') ?? '', query.get('to') ?? '', options.findService);
      const sent = query.get('send') === 'true' ? await sentConnection(named.selection, options.isServed) : undefined;
      if (running) await withTimeout(running, GRACE_MS, options.clock).catch(() => undefined);
      if (running) throw new QueryError('another trace runs: try again when it has ended', 409);
      const trace = startTrace(named, sent, options, query.disconnected);
      running = trace.ended.then(() => {
        running = undefined;
      });
      const notice = await trace.opened;
      const head = { name: named.name, seconds: MAX_SECONDS, packets: MAX_PACKETS, notice };
      return linesAnswer(TRACE_SCHEMA, trace.lines, head);
    },
  };
}

async function selectionOf(from: string, to: string, findService: FindService): Promise<NamedSelection> {
  try {
    return await parseSelection(from, to, findService);
  } catch (error) {
    throw error instanceof SelectionError ? new QueryError(error.message) : error;
  }
}

interface StartedTrace {
  /** Rejects with a `QueryError` if the kernel allows no trace. The value is what the trace cannot see here. */
  readonly opened: Promise<string | undefined>;
  /** Resolves when the kernel has no rule of the trace any more. Never rejects. */
  readonly ended: Promise<void>;
  readonly lines: AsyncIterable<readonly TraceLine[]>;
}

function startTrace(
  { selection }: NamedSelection,
  sent: SentConnection | undefined,
  { namespace, clock = systemClock, open }: TraceRouteOptions,
  signal: AbortSignal,
): StartedTrace {
  const lines = new LineQueue<TraceLine>(signal);
  let ended: Promise<void> = Promise.resolve();
  const opened = new Promise<string | undefined>((resolve, reject) => {
    const run = async () => {
      const notice = await legacyNotice(namespace);
      const counts = await runTrace({
        selection,
        forMs: MAX_SECONDS * 1000,
        packets: MAX_PACKETS,
        signal,
        namespace,
        clock,
        ...(open && { open }),
        started: () => {
          resolve(notice);
          if (sent) void send(sent, namespace).then(line => lines.add(line));
        },
        traced: (packet, number) => lines.add(packetLine(packet, number)),
      });
      resolve(notice);
      lines.end({ kind: 'end', ...counts });
    };
    ended = run().catch(error => {
      reject(error instanceof TraceError ? new QueryError(error.message, 501) : error);
      lines.end({ kind: 'failed', error: errorText(error) });
    });
  });
  return { opened, ended, lines };
}

async function send(to: SentConnection, namespace: TracerOptions['namespace']): Promise<TraceLine> {
  const { outcome, ms } = await probe(to, { namespace, timeoutMs: SEND_TIMEOUT_MS });
  return { kind: 'sent', to: to.text, protocol: to.protocol, outcome, ms: Math.round(ms * 10) / 10 };
}
