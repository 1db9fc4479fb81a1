// Measures userspace mode beside haproxy (in TCP mode, with one thread): bulk transfer, short connections, many
// connections, and memory. The proxies run on one core, and the load on another. "GB per processor second" shows what
// one core can do, however busy the machine is. Works in its own network namespace. Needs root. The bench fails if a
// connection through userspace mode fails.
//   --seconds N         how long each bulk transfer takes (3)
//   --short N           how many short connections it makes (100000)
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { NetworkNamespace } from '../src/kernel/netns.ts';
import { writeSysctl } from '../src/kernel/sysctl.ts';
import type { Ip } from '../src/net/index.ts';
import { service, slice } from '../test/support/objects.ts';
import { loopMachine, UserspaceHarness } from '../test/support/userspace-mode.ts';
import { COMMON_FLAGS } from './support/flags.ts';
import { mebibytes, median, type Row, report, reportMachine } from './support/report.ts';
import { answerQuestions, cpuSeconds, Role, residentBytes } from './support/role.ts';
import { connectOften, holdMany, receiveBulk, type ShortResult, serve } from './support/stream-load.ts';

const VIP = '10.96.0.1' as Ip;
const NODE = '192.168.0.2' as Ip;
const ENDPOINT = '10.244.1.1' as Ip;
const HAPROXY_PORT = 9000;
const USERSPACE = 'userspace mode';
const BULK_CONNECTIONS = 4;
const HELD_CONNECTIONS = 1000;
const CONCURRENT_SHORT = 64;
const SHORT_PER_RUN = 5000;
const REPETITIONS = 3;
const PROXY_CORE = 0;
const LOAD_CORE = 1;

const { values: flags } = parseArgs({
  options: {
    ...COMMON_FLAGS,
    seconds: { type: 'string', default: '3' },
    short: { type: 'string', default: '100000' },
  },
});

async function main(): Promise<void> {
  reportMachine();
  const namespace = loopMachine();
  writeSysctl('net/netfilter/nf_conntrack_tcp_timeout_time_wait', 1, namespace);
  const server = await Role.start('server', LOAD_CORE, namespace);
  const proxy = await Role.start('proxy', PROXY_CORE, namespace);
  const haproxy = startHaproxy(namespace);
  const client = await Role.start('client', LOAD_CORE, namespace);
  try {
    await delay(1000);
    const speed = await measureSpeed(client, [
      { name: USERSPACE, ip: VIP, port: 80, pid: proxy.pid },
      { name: 'haproxy', ip: NODE, port: HAPROXY_PORT, pid: haproxy.pid },
      { name: 'none', ip: ENDPOINT, port: 8080, pid: undefined },
    ]);
    report(speed.rows, 'through one Service with one endpoint');
    const memory = await measureMemory(client, proxy);
    report(memory.rows, 'memory of the proxy');
    const { failures } = await proxy.ask<ProxyState>({});
    failIfAny(Math.max(speed.failures + memory.failures, failures));
  } finally {
    for (const role of [server, proxy, client]) role.stop();
    haproxy.kill();
    namespace.close();
  }
}

interface Measured {
  readonly rows: readonly Row[];
  /** The number of connections through userspace mode that failed. */
  readonly failures: number;
}

interface Contender {
  readonly name: string;
  readonly ip: Ip;
  readonly port: number;
  /** Undefined if no proxy is between client and server. */
  readonly pid: number | undefined;
}

/** One run of one contender. */
interface Run {
  readonly name: string;
  readonly bytesPerSecond: number;
  readonly bytesPerCpuSecond: number;
  readonly connectionsPerSecond: number;
  readonly connectionsPerCpuSecond: number;
  readonly failures: number;
}

async function measureSpeed(client: Role, contenders: readonly Contender[]): Promise<Measured> {
  const runs: Run[] = [];
  for (let i = 0; i < REPETITIONS; i++) {
    for (const contender of contenders) runs.push(await runLoads(client, contender));
  }
  const rows = contenders.map(({ name }) => {
    const own = runs.filter(run => run.name === name);
    return {
      proxy: name,
      'bulk GB/s': (median(own.map(run => run.bytesPerSecond)) / 1e9).toFixed(2),
      'GB per processor second': (median(own.map(run => run.bytesPerCpuSecond)) / 1e9).toFixed(2),
      'connections/s': Math.round(median(own.map(run => run.connectionsPerSecond))),
      'connections per processor second': Math.round(median(own.map(run => run.connectionsPerCpuSecond))),
    };
  });
  const failures = runs.filter(({ name }) => name === USERSPACE).reduce((sum, run) => sum + run.failures, 0);
  return { rows, failures };
}

async function runLoads(client: Role, { name, ip, port, pid }: Contender): Promise<Run> {
  const seconds = Number(flags.seconds);
  const cpu = () => (pid === undefined ? Number.NaN : cpuSeconds(pid));
  const beforeBulk = cpu();
  const bytesPerSecond = await client.ask<number>({ kind: 'bulk', ip, port, milliseconds: seconds * 1000 });
  const bytesPerCpuSecond = (bytesPerSecond * seconds) / (cpu() - beforeBulk);
  const beforeShort = cpu();
  const short = await client.ask<ShortResult>({ kind: 'short', ip, port, count: SHORT_PER_RUN });
  return {
    name,
    bytesPerSecond,
    bytesPerCpuSecond,
    connectionsPerSecond: short.perSecond,
    connectionsPerCpuSecond: SHORT_PER_RUN / (cpu() - beforeShort),
    failures: short.failures,
  };
}

async function measureMemory(client: Role, proxy: Role): Promise<Measured> {
  const rows: Row[] = [];
  let failed = 0;
  const addRow = async (when: string, failures: number) => {
    await delay(500);
    const state = await proxy.ask<ProxyState>({});
    failed += failures;
    rows.push({
      when,
      connections: state.connections,
      'failed here': failures,
      'failures so far': state.failures,
      'heap used': `${mebibytes(state.heap)} MiB`,
      resident: `${mebibytes(residentBytes(proxy.pid))} MiB`,
    });
  };
  const address = { ip: VIP, port: 80 };
  await addRow('warm', 0);
  const failures = await client.ask<number>({ kind: 'hold', ...address, count: HELD_CONNECTIONS });
  await addRow(`${HELD_CONNECTIONS} connections at once`, failures);
  await client.ask({ kind: 'end' });
  await addRow('after they ended', 0);
  const quarter = Number(flags.short) / 4;
  for (const part of [1, 2, 3, 4]) {
    const short = await client.ask<ShortResult>({ kind: 'short', ...address, count: quarter });
    await addRow(`after ${quarter * part} short connections more`, short.failures);
  }
  return { rows, failures: failed };
}

function failIfAny(failures: number): void {
  if (failures === 0) return;
  console.error(`${failures} connections through userspace mode failed`);
  process.exitCode = 1;
}

function startHaproxy(namespace: NetworkNamespace) {
  const file = join(tmpdir(), `haproxy-${process.pid}.cfg`);
  writeFileSync(
    file,
    `global
  maxconn 4000
  nbthread 1
defaults
  mode tcp
  timeout connect 5s
  timeout client 60s
  timeout server 60s
listen web
  bind ${NODE}:${HAPROXY_PORT}
  server one ${ENDPOINT}:8080
`,
  );
  const args = ['-c', String(PROXY_CORE), 'haproxy', '-q', '-db', '-f', file];
  return namespace.run(() => spawn('taskset', args, { stdio: ['ignore', 'inherit', 'inherit'] }));
}

type Question =
  | { readonly kind: 'bulk'; readonly ip: Ip; readonly port: number; readonly milliseconds: number }
  | { readonly kind: 'short'; readonly ip: Ip; readonly port: number; readonly count: number }
  | { readonly kind: 'hold'; readonly ip: Ip; readonly port: number; readonly count: number }
  | { readonly kind: 'end' };

function playClient(): void {
  let held: { end: () => void } | undefined;
  answerQuestions(async (question: Question) => {
    switch (question.kind) {
      case 'bulk':
        return receiveBulk(question.ip, question.port, BULK_CONNECTIONS, question.milliseconds);
      case 'short':
        return connectOften(question.ip, question.port, question.count, CONCURRENT_SHORT);
      case 'hold': {
        const many = await holdMany(question.ip, question.port, question.count);
        held = many;
        return many.failures;
      }
      case 'end':
        held?.end();
        return undefined;
    }
  });
}

interface ProxyState {
  readonly connections: number;
  readonly failures: number;
  readonly heap: number;
}

async function playProxy(): Promise<void> {
  // The process itself is in the namespace, as a proxy on a node is.
  const harness = new UserspaceHarness(NetworkNamespace.current(), {}, { isHome: true });
  harness.set(service('web'), slice('web-1', [ENDPOINT]));
  await harness.sync();
  answerQuestions(() => {
    globalThis.gc?.();
    const [counters] = harness.mode.counters();
    return {
      connections: harness.mode.tcpConnections,
      failures: counters?.failures,
      heap: process.memoryUsage().heapUsed,
    };
  });
}

switch (flags.role) {
  case 'server':
    serve(ENDPOINT, 8080);
    answerQuestions(() => undefined);
    break;
  case 'proxy':
    await playProxy();
    break;
  case 'client':
    playClient();
    break;
  default:
    await main();
}
