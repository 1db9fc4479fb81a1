import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { type HttpAttack, HttpAttacker } from '../../../test/support/http-attack.ts';
import { httpCall } from '../../../test/support/http-call.ts';
import { assertAnsweredInTime, HttpProber } from '../../../test/support/http-prober.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Ip } from '../../net/index.ts';
import { HttpServer } from '../http/index.ts';
import { metricsHandler } from './index.ts';
import { MetricSet } from './metric-set.ts';
import { SharedRendering } from './shared-rendering.ts';

const REQUEST = 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n';

describe('many scrapes at once', () => {
  const cleanups: (() => void | Promise<void>)[] = [];
  let port = 0;
  let renderings = 0;

  async function serve(render: () => Promise<string>): Promise<void> {
    renderings = 0;
    const handle = metricsHandler({
      metrics: () => {
        renderings++;
        return render();
      },
      mode: () => 'nftables',
      configz: () => ({}),
      flagz: undefined,
      statusz: undefined,
      profiling: false,
      setVerbosity: () => {},
      clock: systemClock,
    });
    const server = await HttpServer.open({ ip: '127.0.0.1' as Ip, port: 0, handle });
    cleanups.push(() => server.close());
    port = server.port;
  }
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup();
  });

  test('METRICS-14 callers that ask at the same moment get one rendering, compressed or not', async () => {
    await serve(async () => {
      // Long enough for all callers to ask, also on a busy machine.
      await delay(1000);
      return `a ${renderings}\n`;
    });
    const get = async (encoding: string) => {
      const { bytes, headers } = await httpCall({ port, path: '/metrics', headers: { 'Accept-Encoding': encoding } });
      return String(headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes);
    };
    const texts = await Promise.all(Array.from({ length: 50 }, (_, i) => get(i % 2 === 0 ? 'gzip' : 'identity')));
    assert.deepEqual(new Set(texts), new Set(['a 1\n']));
    assert.equal(await get('gzip'), 'a 2\n');
  });

  test('METRICS-14 a caller that has its answer does not hold the text', async () => {
    await serve(async () => `a ${renderings}\n`);
    for (let i = 1; i <= 6; i++) assert.equal((await httpCall({ port, path: '/metrics' })).body, `a ${i}\n`);
  });

  test('METRICS-14 a text is compressed once for all callers', async () => {
    const rendering = await new SharedRendering(new ManualClock(), async () => 'a 1\n').get(AbortSignal.abort());
    assert.equal(await rendering.zipped(), await rendering.zipped());
  });

  for (const reads of [true, false]) {
    test(`METRICS-14 two hundred connections that ask without end delay nobody, if they ${reads ? '' : 'do not '}read`, async () => {
      const set = manyMetrics();
      await serve(() => set.text());
      const attack: HttpAttack = { port, connections: 200, send: REQUEST.repeat(1800), reads };
      await assertAnsweredInTime(async () => {
        const prober = await HttpProber.start(port, '/healthz');
        cleanups.push(() => prober.close());
        const attacker = await HttpAttacker.start(attack);
        cleanups.push(() => attacker.stop());
        await delay(1500);
        const result = await prober.stop();
        await cleanups.pop()?.();
        return result;
      });
    });
  }

  test('METRICS-14 rendering takes at most a quarter of the time, and callers wait at most a second', async () => {
    for (const [cost, pause] of [
      [100, 300],
      [5000, 1000],
    ] as const) {
      const clock = new ManualClock();
      let count = 0;
      const rendering = new SharedRendering(clock, async () => {
        await new Promise<void>(resolve => clock.setTimer(cost, resolve));
        return `${++count}`;
      });
      const first = rendering.get(AbortSignal.abort());
      await clock.advance(cost);
      await first;
      const second = Promise.all([rendering.get(AbortSignal.abort()), rendering.get(AbortSignal.abort())]);
      await clock.advance(pause - 1 + cost);
      assert.equal(count, 1);
      await clock.advance(1);
      assert.deepEqual(
        (await second).map(({ plain }) => String(plain)),
        ['2', '2'],
      );
    }
  });

  test('METRICS-14 callers that do not take their answers hold at most four texts', async () => {
    let count = 0;
    const rendering = new SharedRendering(new ManualClock(), async () => `${++count}`);
    const holders = Array.from({ length: 4 }, () => new AbortController());
    const get = async (signal: AbortSignal) => String((await rendering.get(signal)).plain);
    for (const { signal } of holders) await get(signal);
    const late = new AbortController();
    assert.deepEqual([await get(late.signal), await get(AbortSignal.abort())], ['4', '4']);
    holders[3]?.abort();
    assert.equal(await get(AbortSignal.abort()), '4');
    late.abort();
    assert.equal(await get(AbortSignal.abort()), '5');
  });

  test('METRICS-14 a rendering that fails does not fail later ones', async () => {
    let count = 0;
    await serve(async () => {
      if (++count === 1) throw new Error('no luck');
      return 'a 1\n';
    });
    assert.equal((await httpCall({ port, path: '/metrics' })).status, 500);
    assert.equal((await httpCall({ port, path: '/metrics' })).status, 200);
  });
});

/** As many samples as the proxy has in a large cluster. */
function manyMetrics(): MetricSet {
  const set = new MetricSet();
  const buckets = Array.from({ length: 16 }, (_, i) => i);
  for (let i = 0; i < 10; i++) {
    const histogram = set.histogram(`histogram_with_a_long_name_${i}`, ['label'], buckets, 'help');
    for (let label = 0; label < 8; label++) histogram.observe({ label: String(label) }, label);
  }
  return set;
}
