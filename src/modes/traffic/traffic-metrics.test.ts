import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { MetricSet } from '../../observe/metrics/index.ts';
import type { ServicePortTraffic, TrafficFigures } from './service-port-traffic.ts';
import { registerTraffic } from './traffic-metrics.ts';
import { TrafficReader } from './traffic-reader.ts';

class Node {
  readonly clock = new ManualClock(1_000_000);
  readonly set = new MetricSet();
  traffic: readonly ServicePortTraffic[] | undefined = [];
  isFailing = false;
  readings = 0;
  /** How long a reading takes. */
  readingMs = 0;

  constructor() {
    registerTraffic(this.set, new TrafficReader({ traffic: () => this.#read() }, this.clock));
  }

  count(figures: TrafficFigures, endpoints?: ReadonlyMap<string, TrafficFigures>): void {
    this.traffic = [{ family: 'IPv4', service: 'default/web', port: 'http', ...figures, endpoints }];
  }

  async samples(pattern = /./): Promise<readonly string[]> {
    const lines = (await this.set.text()).split('\n').filter(line => line !== '' && !line.startsWith('#'));
    return lines.map(line => line.replace('pointsman_service_', '')).filter(line => pattern.test(line));
  }

  async #read(): Promise<readonly ServicePortTraffic[] | undefined> {
    this.readings++;
    await this.clock.advance(this.readingMs);
    if (this.isFailing) throw new Error('interrupted');
    return this.traffic;
  }
}

const WEB = '{ip_family="IPv4",port="http",service="default/web"}';
const OTHER = '{ip_family="IPv4",port="",service="other"}';

test('METRICS-10 the metrics show traffic by Service, port and family, and only what the mode counts', async () => {
  const node = new Node();
  node.count({ connections: 7, active: 2, rejected: 1 });
  assert.deepEqual(await node.samples(), [
    `active_connections${WEB} 2`,
    `active_connections${OTHER} 0`,
    `connections_total${WEB} 7`,
    `connections_total${OTHER} 0`,
    `rejected_total${WEB} 1`,
    `rejected_total${OTHER} 0`,
  ]);
  assert.match(await node.set.text(), /^# TYPE pointsman_service_connections_total counter$/m);
  assert.match(await node.set.text(), /^# TYPE pointsman_service_active_connections gauge$/m);
});

test('TRAFFIC-10 the metrics of endpoints name the endpoint', async () => {
  const node = new Node();
  node.count({ connections: 3 }, new Map([['10.0.0.1:80', { connections: 3, bytes: 60 }]]));
  const labels = '{endpoint="10.0.0.1:80",ip_family="IPv4",port="http",service="default/web"}';
  const other = '{endpoint="other",ip_family="IPv4",port="",service="other"}';
  assert.deepEqual(
    (await node.samples(/^endpoint_/)).map(line => line.replace('endpoint_', '')),
    [`bytes_total${labels} 60`, `bytes_total${other} 0`, `connections_total${labels} 3`, `connections_total${other} 0`],
  );
});

test('METRICS-10 scrapes at the same time or within two seconds share a reading', async () => {
  const node = new Node();
  node.count({ connections: 7 });
  await Promise.all([node.samples(), node.samples()]);
  node.count({ connections: 9 });
  await node.clock.advance(1999);
  assert.equal((await node.samples())[0], `connections_total${WEB} 7`);
  assert.equal(node.readings, 1);
  await node.clock.advance(1);
  assert.equal((await node.samples())[0], `connections_total${WEB} 9`);
  assert.equal(node.readings, 2);
});

test('METRICS-10 the proxy repeats a long reading less often', async () => {
  const node = new Node();
  node.readingMs = 500;
  await node.samples();
  await node.clock.advance(9999);
  await node.samples();
  assert.equal(node.readings, 1);
  await node.clock.advance(1);
  await node.samples();
  assert.equal(node.readings, 2);
});

test('METRICS-10 after a reading that fails, the metrics show the last one', async () => {
  const node = new Node();
  node.count({ connections: 7 });
  await node.samples();
  node.isFailing = true;
  await node.clock.advance(5000);
  assert.equal((await node.samples())[0], `connections_total${WEB} 7`);
  assert.equal(node.readings, 2);
});

test('METRICS-10 at most 100 service ports have a series of their own', async () => {
  const node = new Node();
  node.traffic = Array.from({ length: 150 }, (_, i) => ({
    family: 'IPv4',
    service: `default/s${i}`,
    port: '',
    connections: i,
  }));
  const samples = await node.samples();
  assert.equal(samples.length, 101);
  assert.equal(samples[100], `connections_total${OTHER} ${(49 * 50) / 2}`);
});
