import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { MetricSet } from '../../../observe/metrics/index.ts';
import { registerServers } from './server-metrics.ts';
import type {
  RealServerStatistics,
  ServerStatistics,
  ServicePortStatistics,
  StatisticsOptions,
  TrafficCounts,
} from './server-statistics.ts';

function traffic(connections: number): TrafficCounts {
  const n = BigInt(connections);
  return { connections: n, inPackets: n * 2n, outPackets: n * 3n, inBytes: n * 100n, outBytes: n * 200n };
}

function statistics(
  service: string,
  port: string,
  connections: number,
  realServers: readonly RealServerStatistics[] = [],
): ServicePortStatistics {
  const names = { id: `IPv4 ${service}:${port}/TCP`, family: 'IPv4', service, port, protocol: 'TCP' } as const;
  return { ...names, ...traffic(connections), realServers };
}

function realServer(address: string, connections: number, weight = 1): RealServerStatistics {
  return { address, weight, activeConnections: 1, inactiveConnections: 2, ...traffic(connections) };
}

class Kernel {
  readonly clock = new ManualClock(1_000_000);
  readonly set = new MetricSet();
  readonly requests: StatisticsOptions[] = [];
  answer: ServerStatistics | 'broken' | undefined;

  constructor() {
    registerServers(this.set, this.clock, async options => {
      this.requests.push(options);
      if (this.answer === 'broken') throw new Error('interrupted');
      return this.answer;
    });
  }

  has(servicePorts: readonly ServicePortStatistics[], others = 0): void {
    this.answer = {
      servicePorts,
      others: [{ family: 'IPv4', servicePorts: 1, ...traffic(others) }],
      virtualServers: 7,
    };
  }

  /** The samples whose names begin with `name`, without that beginning. */
  async samples(name: string): Promise<readonly string[]> {
    const start = `pointsman_ipvs_${name}`;
    const lines = (await this.set.text()).split('\n').filter(line => line.startsWith(start));
    return lines.map(line => line.slice(start.length));
  }

  async later(): Promise<void> {
    await this.clock.advance(5000);
  }
}

const WEB = 'ip_family="IPv4",port="http",protocol="TCP",service="default/web"';
const OTHER = 'ip_family="IPv4",port="",protocol="",service="other"';

test('METRICS-11 virtual servers are shown by service port, and all others together', async () => {
  const kernel = new Kernel();
  kernel.has([statistics('default/web', 'http', 4)], 10);
  assert.deepEqual(await kernel.samples('virtual_servers'), [' 7']);
  assert.deepEqual(await kernel.samples('connections_total'), [`{${WEB}} 4`, `{${OTHER}} 10`]);
  assert.deepEqual(await kernel.samples('packets_total'), [
    `{direction="in",${WEB}} 8`,
    `{direction="out",${WEB}} 12`,
    `{direction="in",${OTHER}} 20`,
    `{direction="out",${OTHER}} 30`,
  ]);
  assert.deepEqual((await kernel.samples('bytes_total')).slice(0, 1), [`{direction="in",${WEB}} 400`]);
  assert.equal(kernel.requests.length, 1, 'one reading serves all metrics and all scrapes within five seconds');
});

test('METRICS-11 real servers have connections and a weight, which is 0 while they wait for their last connection', async () => {
  const kernel = new Kernel();
  kernel.has([statistics('default/web', 'http', 4, [realServer('10.0.0.1:80', 3, 0), realServer('10.0.0.2:80', 0)])]);
  const server = WEB.replace('service=', 'real_server="10.0.0.1:80",service=');
  assert.deepEqual(await kernel.samples('real_server_weight'), [`{${server}} 0`]);
  assert.deepEqual(await kernel.samples('real_server_connections_total'), [`{${server}} 3`]);
  assert.deepEqual(await kernel.samples('real_server_connections{'), [
    `${server},state="active"} 1`,
    `${server},state="inactive"} 2`,
  ]);
});

test('METRICS-11 a named service port keeps its name, and no counter decreases', async () => {
  const kernel = new Kernel();
  kernel.has([statistics('default/web', 'http', 4)], 10);
  await kernel.samples('connections_total');
  // Another service port is named, so the others have less. The virtual server of the first one was made again.
  kernel.has([statistics('default/web', 'http', 1), statistics('default/db', '', 6)], 5);
  await kernel.later();
  const db = 'ip_family="IPv4",port="",protocol="TCP",service="default/db"';
  assert.deepEqual(await kernel.samples('connections_total'), [`{${WEB}} 4`, `{${db}} 6`, `{${OTHER}} 10`]);
  assert.deepEqual(kernel.requests[1], { limit: 100, keep: new Set(['IPv4 default/web:http/TCP']) });
  kernel.has([statistics('default/web', 'http', 3)], 7);
  await kernel.later();
  assert.deepEqual(await kernel.samples('connections_total'), [`{${WEB}} 6`, `{${OTHER}} 12`]);
});

test('METRICS-11 the 100 busiest real servers are named, and keep their names', async () => {
  const kernel = new Kernel();
  const servers = (from: number) => Array.from({ length: 150 }, (_, i) => realServer(`10.0.0.${i}:80`, from + i));
  kernel.has([statistics('default/web', 'http', 4, servers(1))]);
  assert.equal((await kernel.samples('real_server_weight')).length, 100);
  assert.equal((await kernel.samples('real_server_weight')).filter(line => line.includes('"10.0.0.49:80"')).length, 0);
  kernel.has([statistics('default/web', 'http', 4, [...servers(1), realServer('10.0.1.1:80', 9999)])]);
  await kernel.later();
  const shown = await kernel.samples('real_server_weight');
  assert.equal(shown.length, 100);
  assert.ok(!shown.some(line => line.includes('10.0.1.1:80')));
});

test('METRICS-11 if a reading fails, the last one is shown', async () => {
  const kernel = new Kernel();
  kernel.has([statistics('default/web', 'http', 4)]);
  await kernel.samples('connections_total');
  for (const answer of ['broken', undefined] as const) {
    kernel.answer = answer;
    await kernel.later();
    assert.deepEqual(await kernel.samples('connections_total'), [`{${WEB}} 4`, `{${OTHER}} 0`]);
  }
  assert.equal(kernel.requests.length, 3);
});
