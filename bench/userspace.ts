// Compares userspace mode with haproxy (TCP mode, one thread): bulk transfer, short connections, many connections, memory.
// Runs in its own network namespace. Needs root, taskset and Debian's haproxy, which it installs if it is missing.
// The proxies run on one core, and the load on the other. GB per processor second does not depend on other load.
// Fails if a connection through userspace mode fails.
//   --short N   how many short connections (100000)     --seconds N   how long each bulk transfer takes (3)
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { NetworkNamespace } from '../src/kernel/netns.ts';
import { writeSysctl } from '../src/kernel/sysctl.ts';
import type { Ip } from '../src/net/index.ts';
import { service, slice } from '../test/support/objects.ts';
import { loopMachine, UserspaceHarness } from '../test/support/userspace-mode.ts';
import { median, type Row, report } from './support/report.ts';
import { cpuSeconds, givenRole, play, Role, residentBytes } from './support/role.ts';
import { connectOften, holdMany, receiveBulk, type ShortResult, serve } from './support/stream-load.ts';

const VIP = '10.96.0.1' as Ip;
const NODE = '192.168.0.2' as Ip;
const ENDPOINT = '10.244.1.1' as Ip;
const HAPROXY_PORT = 9000;
const USERSPACE = 'userspace mode';
const BULK_CONNECTIONS = 4;
const CONCURRENT = 1000;
const SHORT_AT_ONCE = 64;
const REPETITIONS = 3;

function flag(name: string, otherwise: number): number {
  const at = process.argv.indexOf(name);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
}

type Question =
  | { readonly kind: 'bulk'; readonly ip: Ip; readonly port: number; readonly milliseconds: number }
  | { readonly kind: 'short'; readonly ip: Ip; readonly port: number; readonly count: number }
  | { readonly kind: 'hold'; readonly ip: Ip; readonly port: number; readonly count: number }
  | { readonly kind: 'end' };

function playClient(): void {
  let held: { end: () => void } | undefined;
  play(async (question: Question) => {
    switch (question.kind) {
      case 'bulk':
        return receiveBulk(question.ip, question.port, BULK_CONNECTIONS, question.milliseconds);
      case 'short':
        return connectOften(question.ip, question.port, question.count, SHORT_AT_ONCE);
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

async function playProxy(): Promise<void> {
  // The process is in the namespace itself, as a proxy on a node is.
  const harness = new UserspaceHarness(NetworkNamespace.current(), {}, { isHome: true });
  harness.set(service('web'), slice('web-1', [ENDPOINT]));
  await harness.sync();
  play(() => {
    globalThis.gc?.();
    const [counters] = harness.mode.counters();
    return {
      connections: harness.mode.tcpConnections,
      failures: counters?.failures,
      heap: process.memoryUsage().heapUsed,
    };
  });
}

interface ProxyState {
  readonly connections: number;
  readonly failures: number;
  readonly heap: number;
}

function startHaproxy(namespace: NetworkNamespace, core: number) {
  if (spawnSync('which', ['haproxy']).status !== 0) spawnSync('apt-get', ['install', '-y', 'haproxy']);
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
  const args = ['-c', String(core), 'haproxy', '-q', '-db', '-f', file];
  return namespace.run(() => spawn('taskset', args, { stdio: ['ignore', 'inherit', 'inherit'] }));
}

interface Contender {
  readonly name: string;
  readonly ip: Ip;
  readonly port: number;
  readonly pid: number | undefined;
}

interface Measured {
  readonly rows: readonly Row[];
  /** Connections through userspace mode that got no answer. */
  readonly failures: number;
}

async function measure(client: Role, contenders: readonly Contender[]): Promise<Measured> {
  const seconds = flag('--seconds', 3);
  const rows: Row[] = [];
  let failed = 0;
  const runs = new Map(contenders.map(({ name }) => [name, { wall: [], core: [], short: [], perCore: [] } as Figures]));
  for (let i = 0; i < REPETITIONS; i++) {
    for (const { name, ip, port, pid } of contenders) {
      const figures = runs.get(name);
      const cpu = () => (pid === undefined ? Number.NaN : cpuSeconds(pid));
      const beforeBulk = cpu();
      const rate = await client.ask<number>({ kind: 'bulk', ip, port, milliseconds: seconds * 1000 });
      figures?.wall.push(rate / 1e9);
      figures?.core.push((rate * seconds) / 1e9 / (cpu() - beforeBulk));
      const count = 5000;
      const beforeShort = cpu();
      const { perSecond, failures } = await client.ask<ShortResult>({ kind: 'short', ip, port, count });
      if (name === USERSPACE) failed += failures;
      figures?.short.push(perSecond);
      figures?.perCore.push(count / (cpu() - beforeShort));
    }
  }
  for (const [proxy, { wall, core, short, perCore }] of runs) {
    rows.push({
      proxy,
      'bulk GB/s': median(wall).toFixed(2),
      'GB per processor second': median(core).toFixed(2),
      'connections/s': Math.round(median(short)),
      'connections per processor second': Math.round(median(perCore)),
    });
  }
  return { rows, failures: failed };
}

interface Figures {
  readonly wall: number[];
  readonly core: number[];
  readonly short: number[];
  readonly perCore: number[];
}

async function measureMemory(client: Role, proxy: Role): Promise<Measured> {
  const rows: Row[] = [];
  let failed = 0;
  const note = async (when: string, failures: number) => {
    await delay(500);
    const { connections, heap, failures: refused } = await proxy.ask<ProxyState>({});
    failed += failures;
    const resident = `${(residentBytes(proxy.pid) / (1 << 20)).toFixed(1)} MiB`;
    const used = `${(heap / (1 << 20)).toFixed(1)} MiB`;
    rows.push({ when, connections, 'failed here': failures, 'failures so far': refused, 'heap used': used, resident });
  };
  const at = { ip: VIP, port: 80 };
  await note('warm', 0);
  await note(`${CONCURRENT} connections at once`, await client.ask<number>({ kind: 'hold', ...at, count: CONCURRENT }));
  await client.ask({ kind: 'end' });
  await note('after they ended', 0);
  const count = flag('--short', 100_000);
  for (const part of [1, 2, 3, 4]) {
    const { failures } = await client.ask<ShortResult>({ kind: 'short', ...at, count: count / 4 });
    await note(`after ${(count / 4) * part} short connections more`, failures);
  }
  return { rows, failures: failed };
}

function failIfAny(failures: number): void {
  if (failures === 0) return;
  console.error(`${failures} connections through userspace mode failed`);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const namespace = loopMachine();
  writeSysctl('net/netfilter/nf_conntrack_tcp_timeout_time_wait', 1, namespace);
  const server = await Role.start('server', 1, namespace);
  const proxy = await Role.start('proxy', 0, namespace);
  const haproxy = startHaproxy(namespace, 0);
  const client = await Role.start('client', 1, namespace);
  try {
    await delay(1000);
    const speed = await measure(client, [
      { name: USERSPACE, ip: VIP, port: 80, pid: proxy.pid },
      { name: 'haproxy', ip: NODE, port: HAPROXY_PORT, pid: haproxy.pid },
      { name: 'none', ip: ENDPOINT, port: 8080, pid: undefined },
    ]);
    report(speed.rows, 'through one Service with one endpoint');
    const memory = await measureMemory(client, proxy);
    report(memory.rows, 'memory of the proxy');
    const { failures: refused } = await proxy.ask<ProxyState>({});
    failIfAny(Math.max(speed.failures + memory.failures, refused));
  } finally {
    for (const role of [server, proxy, client]) role.stop();
    haproxy.kill();
    namespace.close();
  }
}

switch (givenRole()) {
  case 'server':
    serve(ENDPOINT, 8080);
    play(() => undefined);
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
