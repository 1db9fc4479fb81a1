import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { MetricSet } from '../../../observe/metrics/index.ts';
import type { FrontendConnections } from '../../frontend-connections.ts';
import { registerConnections } from './connection-metrics.ts';

class Kernel {
  readonly clock = new ManualClock(1_000_000);
  readonly set = new MetricSet();
  counters: readonly FrontendConnections[] = [];
  /** How many of the next readings fail. */
  failures = 0;
  readings = 0;
  /** How long a reading takes. */
  readingMs = 0;

  constructor() {
    registerConnections(this.set, this.clock, () => this.#read());
  }

  count(service: string, port: string, connections: number): void {
    this.counters = [{ family: 'IPv4', service, port, connections }];
  }

  async samples(): Promise<readonly string[]> {
    return (await this.set.text()).split('\n').filter(line => line !== '' && !line.startsWith('#'));
  }

  async *#read(): AsyncGenerator<FrontendConnections> {
    this.readings++;
    await this.clock.advance(this.readingMs);
    yield* this.counters;
    if (this.failures-- > 0) throw new Error('interrupted');
  }
}

const WEB = 'pointsman_service_connections_total{ip_family="IPv4",port="http",service="default/web"}';
const OTHER = 'pointsman_service_connections_total{ip_family="IPv4",port="",service="other"}';

test('METRICS-10 the metric shows connections by Service, port and family', async () => {
  const kernel = new Kernel();
  kernel.count('default/web', 'http', 7);
  assert.deepEqual(await kernel.samples(), [`${WEB} 7`, `${OTHER} 0`]);
  assert.match(await kernel.set.text(), /^# TYPE pointsman_service_connections_total counter$/m);
});

test('METRICS-10 scrapes at the same time or within five seconds share a reading', async () => {
  const kernel = new Kernel();
  kernel.count('default/web', 'http', 7);
  await Promise.all([kernel.samples(), kernel.samples()]);
  kernel.count('default/web', 'http', 9);
  await kernel.clock.advance(4999);
  assert.deepEqual(await kernel.samples(), [`${WEB} 7`, `${OTHER} 0`]);
  assert.equal(kernel.readings, 1);
  await kernel.clock.advance(1);
  assert.deepEqual(await kernel.samples(), [`${WEB} 9`, `${OTHER} 0`]);
  assert.equal(kernel.readings, 2);
});

test('METRICS-10 the proxy repeats a long reading less often', async () => {
  const kernel = new Kernel();
  kernel.readingMs = 600;
  await kernel.samples();
  await kernel.clock.advance(11_999);
  await kernel.samples();
  assert.equal(kernel.readings, 1);
  await kernel.clock.advance(1);
  await kernel.samples();
  assert.equal(kernel.readings, 2);
});

test('METRICS-10 the proxy retries a reading that fails, and shows the last one if no attempt succeeds', async () => {
  const kernel = new Kernel();
  kernel.count('default/web', 'http', 7);
  kernel.failures = 2;
  assert.deepEqual(await kernel.samples(), [`${WEB} 7`, `${OTHER} 0`]);
  kernel.count('default/web', 'http', 9);
  kernel.failures = 3;
  await kernel.clock.advance(5000);
  assert.deepEqual(await kernel.samples(), [`${WEB} 7`, `${OTHER} 0`]);
  await kernel.clock.advance(5000);
  assert.deepEqual(await kernel.samples(), [`${WEB} 9`, `${OTHER} 0`]);
});

test('METRICS-10 at most 100 service ports have a series of their own', async () => {
  const kernel = new Kernel();
  kernel.counters = Array.from({ length: 150 }, (_, i) => ({
    family: 'IPv4',
    service: `default/s${i}`,
    port: '',
    connections: i + 1,
  }));
  const samples = await kernel.samples();
  assert.equal(samples.length, 101);
  assert.ok(samples.includes('pointsman_service_connections_total{ip_family="IPv4",port="",service="default/s50"} 51'));
  assert.ok(samples.includes(`${OTHER} ${(50 * 51) / 2}`));
});
