// Measures what counting costs in nftables mode: a new connection with and without it, and one reading of all figures
// with many flows. Works in network namespaces of its own. Needs root.
//   --flows 10000,100000   how many flows the kernel tracks
//   --size 5000x5          the Services, and the endpoints of each
import { parseArgs } from 'node:util';
import { ConntrackSocket, type Flow, L4, Status } from '../src/kernel/conntrack/index.ts';
import { NetworkNamespace } from '../src/kernel/netns.ts';
import { systemClock } from '../src/lib/clock.ts';
import { NftablesMode } from '../src/modes/nftables/index.ts';
import type { Ip } from '../src/net/index.ts';
import { makeService, makeSlices, parseSize, type Size } from './support/cluster.ts';
import { measureConnects } from './support/connect-latency.ts';
import { COMMON_FLAGS } from './support/flags.ts';
import { watchLoop } from './support/loop-watch.ts';
import { NodeProxy } from './support/node-proxy.ts';
import { mebibytes, median, report, reportMachine, rounded } from './support/report.ts';

const { values: flags } = parseArgs({
  options: {
    ...COMMON_FLAGS,
    flows: { type: 'string', default: '10000,100000' },
    size: { type: 'string', default: '5000x5' },
  },
});

const ROUNDS = 5;
const FLOWS_PER_REQUEST = 10_000;
/** Much longer than a mode waits between two readings. */
const SKIPPED_MS = 3_600_000;

async function main(): Promise<void> {
  reportMachine();
  const size = parseSize(flags.size);
  const { service, counted, direct } = await measureConnects(size.services);
  report(
    [
      {
        'not counted': rounded(median(service)),
        counted: rounded(median(counted)),
        ratio: rounded(median(counted) / median(service), 3),
        'to the endpoint itself': rounded(median(direct)),
      },
    ],
    'a new connection, median in microseconds',
  );
  const rows = [];
  for (const text of flags.flows.split(',')) rows.push(await measureReading(size, Number(text)));
  report(rows, 'one reading of all figures');
}

async function measureReading(size: Size, flows: number) {
  const namespace = NetworkNamespace.create();
  const clock = new SkippingClock();
  let mode: NftablesMode | undefined;
  const proxy = new NodeProxy(namespace, {
    open: (home, events) => {
      mode = new NftablesMode({ namespace: home, events, countConnections: true, clock });
      return mode;
    },
  });
  try {
    for (let i = 0; i < size.services; i++) {
      proxy.service(makeService(i));
      for (const slice of makeSlices(i, size.endpoints)) proxy.endpointSlice(slice);
    }
    await proxy.write(proxy.take());
    await addFlows(namespace, size, flows);
    const read = async () => {
      clock.skip();
      const traffic = (await mode?.traffic()) ?? [];
      return traffic.reduce((sum, port) => sum + (port.active ?? 0), 0);
    };
    const times: number[] = [];
    let active = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const start = process.cpuUsage();
      active = await read();
      const { user, system } = process.cpuUsage(start);
      times.push((user + system) / 1000);
    }
    const watch = watchLoop();
    await read();
    const { longestCpuMs, peakHeap } = watch.stop();
    return {
      size: flags.size,
      flows,
      'open connections': active,
      'processor ms': rounded(median(times)),
      'longest pause ms': rounded(longestCpuMs),
      'heap MiB': mebibytes(peakHeap),
    };
  } finally {
    await proxy.close();
    namespace.close();
  }
}

/** A clock that a bench can set forward, so that the mode reads again. */
class SkippingClock {
  #skippedMs = 0;

  skip(): void {
    this.#skippedMs += SKIPPED_MS;
  }

  now(): number {
    return Date.now() + this.#skippedMs;
  }

  elapsed(): number {
    return performance.now() + this.#skippedMs;
  }

  setTimer(ms: number, fn: () => void) {
    return systemClock.setTimer(ms, fn);
  }
}

async function addFlows(namespace: NetworkNamespace, size: Size, count: number): Promise<void> {
  const socket = ConntrackSocket.open({ namespace });
  try {
    for (let first = 0; first < count; first += FLOWS_PER_REQUEST) {
      const length = Math.min(FLOWS_PER_REQUEST, count - first);
      const refused = await socket.create(Array.from({ length }, (_, i) => makeFlow(first + i, size)));
      if (refused[0]) throw refused[0].error;
    }
  } finally {
    socket.close();
  }
}

/** A client that is connected to one of the endpoints of a Service. */
function makeFlow(i: number, { services, endpoints }: Size): Flow {
  const src = `10.${128 + (i >> 14)}.${(i >> 8) & 63}.${i & 255}` as Ip;
  const { clusterIP, ports } = makeService(i % services).spec;
  const number = (i % services) * endpoints + (Math.floor(i / services) % endpoints);
  const endpoint = `10.200.${number >> 8}.${number & 255}` as Ip;
  return {
    family: 'IPv4',
    protocol: L4.TCP,
    original: { src, dst: clusterIP as Ip, srcPort: 10_000 + (i % 50_000), dstPort: ports[0]?.port ?? 80 },
    reply: { src: endpoint, dst: src, srcPort: 8080, dstPort: 10_000 + (i % 50_000) },
    timeout: 600,
    status: Status.CONFIRMED | Status.SEEN_REPLY | Status.ASSURED,
    state: 'ESTABLISHED',
  };
}

await main();
