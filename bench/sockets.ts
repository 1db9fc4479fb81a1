// Measures the list of connected sockets of ebpf mode: reading it from the kernel, naming every socket, and how long that
// holds the event loop. The sockets are in network namespaces of their own, and no program is attached. Needs root.
//   --sockets 3000,100000   how many sockets are connected
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { countSockets } from '../src/inspect/socket-counts.ts';
import { socketRows } from '../src/inspect/socket-names.ts';
import { BpfMap } from '../src/kernel/bpf/index.ts';
import { NetworkNamespace } from '../src/kernel/netns.ts';
import { connectDatagrams, encodeSocketAddress } from '../src/kernel/sockets/index.ts';
import { encodePeer, mapSpec } from '../src/modes/ebpf/programs/index.ts';
import { SocketReader } from '../src/modes/ebpf/sockets/index.ts';
import type { Ip } from '../src/net/index.ts';
import { listingFacts } from '../test/support/listing-facts.ts';
import { setLoopbackUp } from '../test/support/namespaces.ts';
import { service, slice } from '../test/support/objects.ts';
import { COMMON_FLAGS } from './support/flags.ts';
import { watchLoop } from './support/loop-watch.ts';
import { median, report, reportMachine, rounded } from './support/report.ts';

const { values: flags } = parseArgs({
  options: { ...COMMON_FLAGS, sockets: { type: 'string', default: '3000,100000' } },
});

const ROUNDS = 9;
const ENDPOINTS = 50;
/** Fewer than a process may open, and than a namespace has ports. */
const SOCKETS_OF_A_CHILD = 15_000;
/** The first descriptor that a child inherits beside those of Node. */
const INHERITED = 4;

async function main(): Promise<void> {
  reportMachine();
  const rows = [];
  for (const text of flags.sockets.split(',')) rows.push(await measure(Number(text)));
  report(rows, 'processor time in milliseconds');
}

async function measure(sockets: number) {
  const peers = BpfMap.create(mapSpec('peers', 0));
  const children: ChildProcess[] = [];
  const reader = new SocketReader(0n);
  try {
    for (let left = sockets; left > 0; left -= SOCKETS_OF_A_CHILD) {
      children.push(await startChild(Math.min(left, SOCKETS_OF_A_CHILD), peers));
    }
    await reader.read(peers);
    const facts = namedFacts();
    const read = async () => (await reader.read(peers)).count;
    const count = async () => (await countSockets(socketRows(facts, await reader.read(peers), undefined))).sockets;
    const readings = await timed(read);
    const counts = await timed(count);
    const watch = watchLoop();
    await count();
    const { longestCpuMs } = watch.stop();
    return {
      sockets,
      found: readings.result ?? 0,
      read: readings.ms,
      'read and counted by name': counts.ms,
      'longest hold of the loop': rounded(longestCpuMs),
    };
  } finally {
    for (const child of children) child.kill();
    reader.close();
    peers.close();
  }
}

async function timed<T>(work: () => Promise<T>): Promise<{ readonly result: T | undefined; readonly ms: number }> {
  const times: number[] = [];
  let result: T | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.cpuUsage();
    result = await work();
    const { user, system } = process.cpuUsage(start);
    times.push((user + system) / 1000);
  }
  return { result, ms: rounded(median(times)) };
}

function namedFacts() {
  const endpoints = Array.from({ length: ENDPOINTS }, (_, i) => endpointIP(i));
  return listingFacts({ services: [service('web')], slices: [slice('web-1', endpoints)] });
}

function endpointIP(i: number): Ip {
  return `10.1.0.${1 + (i % ENDPOINTS)}` as Ip;
}

async function startChild(sockets: number, peers: BpfMap): Promise<ChildProcess> {
  const child = fork(process.argv[1] ?? '', ['--role', String(sockets)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', peers.fd],
  });
  await once(child, 'message');
  return child;
}

/** Holds sockets that remember a Service. UDP sockets need no server, and the kernel calls them established, too. */
function holdSockets(count: number): void {
  const peers = BpfMap.of(INHERITED, mapSpec('peers', 0));
  const namespace = NetworkNamespace.create();
  setLoopbackUp(namespace);
  const address = encodeSocketAddress('127.0.0.1' as Ip, 9);
  const key = Buffer.alloc(4);
  for (let i = 0; i < count; i++) {
    key.writeInt32LE(connectDatagrams(namespace, 'IPv4', address));
    const endpoint = { ip: endpointIP(i), port: 8080 };
    const value = { namespace: 1n, service: { ip: '10.96.0.1' as Ip, port: 80 }, endpoint, countedBy: 0 };
    peers.update(key, encodePeer(value));
  }
  // With a listener the process lives as long as the channel does.
  process.on('message', () => {});
  process.send?.('ready');
}

if (flags.role === undefined) await main();
else holdSockets(Number(flags.role));
