import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { MetricSet } from '../../../observe/metrics/metric-set.ts';
import type {
  RealServerStatistics,
  ServerStatistics,
  ServicePortStatistics,
  StatisticsOptions,
  Traffic,
} from '../../index.ts';
import { ipvsServers } from './server-metrics.ts';

function traffic(connections: number): Traffic {
  const n = BigInt(connections);
  return { connections: n, inPackets: n * 2n, outPackets: n * 3n, inBytes: n * 100n, outBytes: n * 200n };
}

function port(name: string, connections: number, realServers: readonly RealServerStatistics[] = []) {
  const names = { id: `IPv4 ${name} TCP`, family: 'IPv4', servicePort: name, protocol: 'TCP' } as const;
  return { ...names, ...traffic(connections), realServers } satisfies ServicePortStatistics;
}

function realServer(address: string, connections: number, weight = 1): RealServerStatistics {
  return { address, weight, activeConnections: 1, inactiveConnections: 2, ...traffic(connections) };
}

class Kernel {
  readonly clock = new ManualClock(1_000_000);
  readonly set = new MetricSet();
  readonly asked: StatisticsOptions[] = [];
  answer: ServerStatistics | 'broken' | undefined;

  constructor() {
    ipvsServers(this.set, this.clock, async options => {
      this.asked.push(options);
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

  /** Samples whose names begin so, without that. */
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

test('METRICS-11 virtual servers are shown by service port, others as one', async () => {
  const kernel = new Kernel();
  kernel.has([port('default/web:http', 4)], 10);
  assert.deepEqual(await kernel.samples('virtual_servers'), [' 7']);
  assert.deepEqual(await kernel.samples('connections_total'), [`{${WEB}} 4`, `{${OTHER}} 10`]);
  assert.deepEqual(await kernel.samples('packets_total'), [
    `{direction="in",${WEB}} 8`,
    `{direction="out",${WEB}} 12`,
    `{direction="in",${OTHER}} 20`,
    `{direction="out",${OTHER}} 30`,
  ]);
  assert.deepEqual((await kernel.samples('bytes_total')).slice(0, 1), [`{direction="in",${WEB}} 400`]);
  assert.equal(kernel.asked.length, 1, 'one reading serves all metrics, and all who ask within five seconds');
});

test('METRICS-11 real servers have connections and a weight, which is 0 while they end', async () => {
  const kernel = new Kernel();
  kernel.has([port('default/web:http', 4, [realServer('10.0.0.1:80', 3, 0), realServer('10.0.0.2:80', 0)])]);
  const server = WEB.replace('service=', 'real_server="10.0.0.1:80",service=');
  assert.deepEqual(await kernel.samples('real_server_weight'), [`{${server}} 0`]);
  assert.deepEqual(await kernel.samples('real_server_connections_total'), [`{${server}} 3`]);
  assert.deepEqual(await kernel.samples('real_server_connections{'), [
    `${server},state="active"} 1`,
    `${server},state="inactive"} 2`,
  ]);
});

test('METRICS-11 who is named stays so, and no counter goes back', async () => {
  const kernel = new Kernel();
  kernel.has([port('default/web:http', 4)], 10);
  await kernel.samples('connections_total');
  // Another is named, so the others have less; the virtual server of the first was made anew.
  kernel.has([port('default/web:http', 1), port('default/db', 6)], 5);
  await kernel.later();
  const db = 'ip_family="IPv4",port="",protocol="TCP",service="default/db"';
  assert.deepEqual(await kernel.samples('connections_total'), [`{${WEB}} 4`, `{${db}} 6`, `{${OTHER}} 10`]);
  assert.deepEqual(kernel.asked[1], { limit: 100, keep: new Set(['IPv4 default/web:http TCP']) });
  kernel.has([port('default/web:http', 3)], 7);
  await kernel.later();
  assert.deepEqual(await kernel.samples('connections_total'), [`{${WEB}} 6`, `{${OTHER}} 12`]);
});

test('METRICS-11 at most 100 real servers are named, the busiest first; who was named stays', async () => {
  const kernel = new Kernel();
  const servers = (from: number) => Array.from({ length: 150 }, (_, i) => realServer(`10.0.0.${i}:80`, from + i));
  kernel.has([port('default/web:http', 4, servers(1))]);
  assert.equal((await kernel.samples('real_server_weight')).length, 100);
  assert.equal((await kernel.samples('real_server_weight')).filter(line => line.includes('"10.0.0.49:80"')).length, 0);
  kernel.has([port('default/web:http', 4, [...servers(1), realServer('10.0.1.1:80', 9999)])]);
  await kernel.later();
  const shown = await kernel.samples('real_server_weight');
  assert.equal(shown.length, 100);
  assert.ok(!shown.some(line => line.includes('10.0.1.1:80')));
});

test('METRICS-11 what cannot be read is shown as it was', async () => {
  const kernel = new Kernel();
  kernel.has([port('default/web:http', 4)]);
  await kernel.samples('connections_total');
  for (const answer of ['broken', undefined] as const) {
    kernel.answer = answer;
    await kernel.later();
    assert.deepEqual(await kernel.samples('connections_total'), [`{${WEB}} 4`, `{${OTHER}} 0`]);
  }
  assert.equal(kernel.asked.length, 3);
});
