import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type InformerCase, initialEnd, withInformer } from '../../../test/support/informer-case.ts';

/** Advances the clock until the informer sends its next request. Returns how long that took. */
async function waitForRequest({ api, clock }: InformerCase): Promise<number> {
  const start = clock.elapsed();
  await clock.advance(0);
  while (api.waiting === 0) await clock.advance(100);
  return clock.elapsed() - start;
}

/** The waits of an informer that never reaches the API server. */
async function waits(count: number, random: number): Promise<number[]> {
  const found: number[] = [];
  await withInformer(
    async parts => {
      let request = await parts.start();
      for (let i = 0; i < count; i++) {
        request.fail('unreachable', 'refused');
        found.push(await waitForRequest(parts));
        request = parts.api.next();
      }
    },
    { random: () => random },
  );
  return found;
}

test('WATCH-9 waits double from 0.8 s to 30 s', async () => {
  assert.deepEqual(await waits(8, 0), [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
});

test('WATCH-9 a random time of up to the same length is added to a wait', async () => {
  assert.deepEqual(await waits(4, 0.5), [1200, 2400, 4800, 9600]);
});

test('WATCH-9 after two minutes without a failure the wait is the shortest again', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    let request = await parts.startWatch();
    for (const [pauseMs, wait] of [
      [1000, 800],
      [119_200, 1600],
      [118_401, 800],
    ] as const) {
      await clock.advance(pauseMs);
      request.fail('timeout', 'no answer');
      assert.equal(await waitForRequest(parts), wait);
      request = api.next();
      request.answer();
      request.send(initialEnd('20'));
      await clock.advance(0);
    }
  }));
