// Measures what pages that watch a proxy cost it: syncs a second, the time of one change, processor time and memory with
// 0, 1 and 10 readers of the live stream, while an endpoint changes as fast as syncs go. The readers are in another process,
// and list all Services first, as pages do. Works in a network namespace of its own. Needs root.
//   --size 5000x3      Services x endpoints of each
//   --readers 0,1,10   numbers of readers
//   --seconds 5        how long each measurement takes
//   --rounds 3         measurements of each number of readers, one after the other
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { EndpointSlice } from '../src/api/index.ts';
import type { Ip } from '../src/net/index.ts';
import { type HttpHandler, HttpServer } from '../src/observe/http/index.ts';
import { performTaskOr, runInChild } from './support/child.ts';
import { makeSlices, parseSize, type Size, sizeName } from './support/cluster.ts';
import { COMMON_FLAGS } from './support/flags.ts';
import { memory } from './support/memory.ts';
import { mebibytes, median, perSecond, quantile, report, reportMachine, rounded } from './support/report.ts';
import { startWatchedNode, type WatchedNode } from './support/watched-node.ts';

const { values: flags } = parseArgs({
  options: {
    ...COMMON_FLAGS,
    size: { type: 'string', default: '5000x3' },
    readers: { type: 'string', default: '0,1,10' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
  },
});

interface Measured {
  readonly readers: number;
  readonly times: readonly number[];
  readonly ms: number;
  readonly cpuMs: number;
  readonly resident: number;
  readonly heap: number;
  readonly rows: number;
  readonly read: Read;
}

/** What the readers got together. */
interface Read {
  readonly events: number;
  readonly bytes: number;
  readonly relists: number;
}

async function main(): Promise<void> {
  reportMachine();
  const size = parseSize(flags.size);
  const node = await startWatchedNode(size);
  const numbers = flags.readers.split(',').map(Number);
  const measured: Measured[] = [];
  try {
    await measure(node, size, 0, 0);
    for (let round = 0; round < Number(flags.rounds); round++) {
      for (const readers of numbers) measured.push(await measure(node, size, readers, round + 1));
    }
  } finally {
    await node.close();
  }
  const of = (readers: number) => measured.filter(each => each.readers === readers);
  const base = summary(of(numbers[0] ?? 0));
  report(
    numbers.map(readers => ({ cluster: sizeName(size), readers, ...row(summary(of(readers)), base) })),
    'one change of an endpoint, with readers of the live stream',
  );
}

function summary(rounds: readonly Measured[]) {
  const of = (value: (each: Measured) => number) => median(rounds.map(value));
  return {
    syncs: of(({ times, ms }) => perSecond(times.length, ms)),
    p50: of(({ times }) => median(times)),
    p99: of(({ times }) => quantile(times, 0.99)),
    cpu: of(({ cpuMs, times }) => cpuMs / times.length),
    resident: of(({ resident }) => resident),
    heap: of(({ heap }) => heap),
    rows: of(({ rows, ms }) => perSecond(rows, ms)),
    events: of(({ read, readers, ms }) => (readers === 0 ? 0 : perSecond(read.events / readers, ms))),
    bytes: of(({ read, readers, ms }) => (readers === 0 ? 0 : read.bytes / readers / (ms / 1000))),
    relists: of(({ read }) => read.relists),
  };
}

type Summary = ReturnType<typeof summary>;

function row(each: Summary, base: Summary) {
  return {
    'syncs/s': each.syncs,
    ratio: rounded(each.syncs / base.syncs),
    'p50, ms': rounded(each.p50),
    'p50 ratio': rounded(each.p50 / base.p50),
    'p99, ms': rounded(each.p99),
    'p99 ratio': rounded(each.p99 / base.p99),
    'processor time of a change, ms': rounded(each.cpu),
    'cpu ratio': rounded(each.cpu / base.cpu),
    'rows computed/s': each.rows,
    'events/s to a reader': each.events,
    'KiB/s to a reader': rounded(each.bytes / 1024),
    'lists again': each.relists,
    'resident, MiB': mebibytes(each.resident),
    'heap, MiB': mebibytes(each.heap),
  };
}

async function measure(node: WatchedNode, size: Size, readers: number, round: number): Promise<Measured> {
  let lists = 0;
  const handle: HttpHandler = request => {
    if (request.path === '/v1/services') request.disconnected.addEventListener('abort', () => lists++);
    return node.handle(request);
  };
  const server = await HttpServer.open({ ip: '127.0.0.1' as Ip, port: 0, handle });
  const argument = { port: server.port, readers };
  const reading = readers === 0 ? undefined : runInChild<Read>({ name: 'read', argument });
  // Listing all Services is not part of the measurement.
  while (lists < readers) await sleep(100);
  const rowsBefore = node.live.rowsComputed;
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  const times = await churn(node, size, round);
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpuBefore);
  const rows = node.live.rowsComputed - rowsBefore;
  const { resident, heap } = memory();
  server.close();
  const read = (await reading) ?? { events: 0, bytes: 0, relists: 0 };
  return { readers, times, ms, cpuMs: (user + system) / 1000, resident, heap, rows, read };
}

/** Each change adds an endpoint to a Service, or removes it, and ends when the kernel has it. */
async function churn(node: WatchedNode, { services, endpoints }: Size, round: number): Promise<readonly number[]> {
  const times: number[] = [];
  const end = performance.now() + 1000 * Number(flags.seconds);
  for (let i = round * 31; performance.now() < end; i++) {
    const n = (i * 7919) % services;
    const [slice] = makeSlices(n, endpoints);
    const from = slice && (node.slice(slice) ?? slice);
    if (!from) continue;
    const to = from.endpoints.length > endpoints ? slice : withOneMore(slice);
    const start = performance.now();
    await node.changeSlice(from, to);
    times.push(performance.now() - start);
  }
  return times;
}

function withOneMore(slice: EndpointSlice): EndpointSlice {
  const [first] = slice.endpoints;
  return first ? { ...slice, endpoints: [...slice.endpoints, { ...first, addresses: ['10.200.0.1'] }] } : slice;
}

/** In the readers' process: follows the stream over several connections until the server closes them. */
async function read({ port, readers }: { readonly port: number; readonly readers: number }): Promise<Read> {
  const read = { events: 0, bytes: 0, relists: 0 };
  const follow = () =>
    new Promise<void>(resolve => {
      const request = get({ port, host: '127.0.0.1', path: '/v1/live', agent: false }, response => {
        response.on('data', (bytes: Buffer) => {
          read.bytes += bytes.length;
          const text = bytes.toString('latin1');
          read.events += text.split('event: ').length - 1;
          if (text.includes('event: hello')) list(port);
          if (!text.includes('event: relist')) return;
          read.relists++;
          list(port);
        });
        response.on('close', resolve);
        response.on('error', () => {});
      });
      request.on('error', () => resolve());
    });
  await Promise.all(Array.from({ length: readers }, follow));
  return read;
}

function list(port: number): void {
  get({ port, host: '127.0.0.1', path: '/v1/services', agent: false }, response => {
    response.on('error', () => {}).resume();
  }).on('error', () => {});
}

await performTaskOr(main, ({ argument }) => read(argument as Parameters<typeof read>[0]));
