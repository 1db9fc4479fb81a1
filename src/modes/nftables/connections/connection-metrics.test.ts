import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { MetricSet } from '../../../observe/metrics/index.ts';
import { registerConnections } from './connection-metrics.ts';
import type { FrontendConnections } from './read-connections.ts';

class Kernel {
  readonly clock = new ManualClock(1_000_000);
  readonly set = new MetricSet();
  counters: readonly FrontendConnections[] = [];
  /** Readings that break off. */
  broken = 0;
  readings = 0;
  /** Milliseconds that a reading takes. */
  takes = 0;

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
    await this.clock.advance(this.takes);
    yield* this.counters;
    if (this.broken-- > 0) throw new Error('interrupted');
  }
}

const WEB = 'pointsman_service_connections_total{ip_family="IPv4",port="http",service="default/web"}';
const OTHER = 'pointsman_service_connections_total{ip_family="IPv4",port="",service="other"}';

test('METRICS-10 connections are shown by Service, port and family', async () => {
  const kernel = new Kernel();
  kernel.count('default/web', 'http', 7);
  assert.deepEqual(await kernel.samples(), [`${WEB} 7`, `${OTHER} 0`]);
  assert.match(await kernel.set.text(), /^# TYPE pointsman_service_connections_total counter$/m);
});

test('METRICS-10 those who ask at once or soon after another share a reading', async () => {
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

test('METRICS-10 a reading that takes long is repeated less often', async () => {
  const kernel = new Kernel();
  kernel.takes = 600;
  await kernel.samples();
  await kernel.clock.advance(11_999);
  await kernel.samples();
  assert.equal(kernel.readings, 1);
  await kernel.clock.advance(1);
  await kernel.samples();
  assert.equal(kernel.readings, 2);
});

test('METRICS-10 a reading that breaks off is begun again; if none succeeds, what was read before is shown', async () => {
  const kernel = new Kernel();
  kernel.count('default/web', 'http', 7);
  kernel.broken = 2;
  assert.deepEqual(await kernel.samples(), [`${WEB} 7`, `${OTHER} 0`]);
  kernel.count('default/web', 'http', 9);
  kernel.broken = 3;
  await kernel.clock.advance(5000);
  assert.deepEqual(await kernel.samples(), [`${WEB} 7`, `${OTHER} 0`]);
  await kernel.clock.advance(5000);
  assert.deepEqual(await kernel.samples(), [`${WEB} 9`, `${OTHER} 0`]);
});

test('METRICS-10 at most 100 service ports are told apart', async () => {
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
