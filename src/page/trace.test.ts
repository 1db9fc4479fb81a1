import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { inspectionHandler } from '../inspect/index.ts';
import type { Ip } from '../net/index.ts';
import { HttpServer } from '../observe/http/index.ts';
import { type OpenTracer, type TracedPacket, TraceError, type TracerHandlers } from '../trace/index.ts';
import { type TraceRouteOptions, traceRoute } from './trace.ts';

const ENDS = { source: '10.244.1.7:4000', destination: '10.96.0.10:80' };
const PACKET: TracedPacket = {
  at: 0,
  protocol: 'tcp',
  tcpFlags: 'SYN',
  first: ENDS,
  last: ENDS,
  inInterface: 'cni0',
  services: ['default/web'],
  steps: [],
  skipsNat: false,
  flow: undefined,
  outcome: { kind: 'left', interface: 'eth0' },
};

/** Tracers that see what the test lets them see. */
class Tracers {
  readonly open: { readonly handlers: TracerHandlers; isClosed: boolean }[] = [];
  readonly opener: OpenTracer = async (_selection, handlers) => {
    const tracer = { handlers, isClosed: false };
    this.open.push(tracer);
    return {
      close: async () => {
        tracer.isClosed = true;
      },
    };
  };
  get last() {
    return this.open.at(-1);
  }
}

interface Parts {
  readonly tracers: Tracers;
  readonly clock: ManualClock;
  ask(query: string, signal?: AbortSignal): Promise<Response>;
}

async function withRoute(options: Partial<TraceRouteOptions>, work: (parts: Parts) => Promise<void>): Promise<void> {
  const tracers = new Tracers();
  const clock = new ManualClock();
  const findService = async () => Promise.reject(new Error('not asked'));
  const route = traceRoute({ findService, isServed: async () => true, clock, open: tracers.opener, ...options });
  const handle = inspectionHandler({ routes: [route] });
  const server = await HttpServer.open({ ip: '127.0.0.1' as Ip, port: 0, handle });
  const ask = (query: string, signal: AbortSignal | null = null) =>
    fetch(`http://127.0.0.1:${server.port}/v1/trace?${query}`, { signal });
  try {
    await work({ tracers, clock, ask });
  } finally {
    server.close();
  }
}

async function linesOf(response: Response) {
  const text = await response.text();
  return text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line));
}

async function errorOf(response: Response): Promise<string> {
  const { error } = (await response.json()) as { readonly error: string };
  return `${response.status} ${error}`;
}

describe('the trace of the page', () => {
  test('PAGE-84 each packet is one line, with its summary; after 60 seconds the trace ends', () =>
    withRoute({}, async ({ tracers, clock, ask }) => {
      const response = await ask('from=node&to=10.96.0.10:80');
      tracers.last?.handlers.traced(PACKET);
      await clock.advance(60_000);
      const [head, packet, end] = await linesOf(response);
      assert.deepEqual(head, {
        schema: 'pointsman.trace/v1',
        name: 'from this node to 10.96.0.10:80/tcp',
        seconds: 60,
        packets: 200,
      });
      assert.deepEqual([packet.kind, packet.number, packet.outcome], ['packet', 1, PACKET.outcome]);
      assert.match(packet.summary, /^10\.244\.1\.7:4000 → 10\.96\.0\.10:80 tcp SYN: default\/web, accepted/);
      assert.deepEqual(end, { kind: 'end', packets: 1, overruns: 0 });
      assert.equal(tracers.last?.isClosed, true);
    }));

  test('PAGE-84 the trace ends after 200 packets', () =>
    withRoute({}, async ({ tracers, ask }) => {
      const response = await ask('to=10.96.0.10:80');
      for (let i = 0; i < 300; i++) tracers.last?.handlers.traced(PACKET);
      const lines = await linesOf(response);
      assert.equal(lines.filter(({ kind }) => kind === 'packet').length, 200);
      assert.equal(lines.at(-1).kind, 'end');
    }));

  test('PAGE-84 a second trace is refused while one runs, and runs when the reader of the first is gone', () =>
    withRoute({}, async ({ tracers, clock, ask }) => {
      const reader = new AbortController();
      await ask('to=10.96.0.10:80', reader.signal);
      const refused = ask('to=10.96.0.10:80');
      await waitFor('the second waits for the end of the first', () => clock.pending > 1);
      await clock.advance(1000);
      assert.equal(await errorOf(await refused), '409 another trace runs: try again when it has ended');
      reader.abort();
      assert.equal((await ask('to=10.96.0.10:80')).status, 200);
      assert.deepEqual(
        tracers.open.map(({ isClosed }) => isClosed),
        [true, false],
      );
    }));

  test('PAGE-84 a trace that breaks off says why in its last line', () =>
    withRoute({}, async ({ tracers, ask }) => {
      const response = await ask('to=10.96.0.10:80');
      tracers.last?.handlers.failed(new Error('the socket is gone'));
      assert.deepEqual((await linesOf(response)).at(-1), { kind: 'failed', error: 'the socket is gone' });
      assert.equal(tracers.last?.isClosed, true);
    }));

  test('PAGE-85 what cannot be traced or sent is an error that says why', async () => {
    const error = async (query: string, options: Partial<TraceRouteOptions> = {}) => {
      let text = '';
      await withRoute(options, async ({ ask }) => {
        text = await errorOf(await ask(query));
      });
      return text;
    };
    assert.match(await error('from=node'), /^400 the parameter "to" is missing/);
    assert.match(await error('to=10.96.0.10:0'), /^400 invalid port 0: must be 1 to 65535/);
    assert.match(await error('from=web&to=10.96.0.10:80'), /^400 invalid source "web": must be an IP, a CIDR or node/);
    assert.match(
      await error('from=10.0.0.1&to=10.96.0.10:80&send=true'),
      /^400 the node can only send its own packets/,
    );
    assert.match(await error('to=10.96.0.0/24&send=true'), /^400 the node can only send to one IP and a port/);
    const asked: string[] = [];
    const isServed = async (to: string) => asked.push(to) === 0;
    assert.match(await error('to=169.254.169.254:80&send=true', { isServed }), /^400 no Service has the address 169/);
    assert.match(await error('to=[fd00::1]:53/udp&send=true', { isServed }), /^400 no Service has the address \[fd00/);
    assert.deepEqual(asked, ['169.254.169.254:80/tcp', '[fd00::1]:53/udp']);
    const open = async () => Promise.reject(new TraceError('tracing packets needs the right CAP_NET_ADMIN'));
    assert.match(await error('to=10.96.0.10:80', { open }), /^501 tracing packets needs the right CAP_NET_ADMIN/);
  });
});
