import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FakeRequest } from '../../../test/support/fake-api.ts';
import { type InformerCase, list, withInformer } from '../../../test/support/informer-case.ts';

/** Advances the clock until the informer sends its next request. Returns how long that took. */
async function waitForRequest({ api, clock }: InformerCase): Promise<number> {
  const start = clock.elapsed();
  await clock.advance(0);
  while (api.waiting === 0) await clock.advance(100);
  return clock.elapsed() - start;
}

/** The waits of an informer whose requests all fail in this way. */
async function waits(count: number, random: number, fail: (request: FakeRequest) => void): Promise<number[]> {
  const found: number[] = [];
  await withInformer(
    async parts => {
      let request = await parts.start();
      for (let i = 0; i < count; i++) {
        fail(request);
        found.push(await waitForRequest(parts));
        request = parts.api.next();
      }
    },
    { random: () => random },
  );
  return found;
}

for (const errno of ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH']) {
  test(`WATCH-9 while nothing listens (${errno}) a retry follows each 0.5 s to 1 s, however long that lasts`, async () => {
    const fail = (request: FakeRequest) => request.fail('unreachable', 'refused', errno);
    assert.deepEqual(await waits(20, 0, fail), Array(20).fill(500));
    assert.deepEqual(await waits(20, 1, fail), Array(20).fill(1000));
  });
}

for (const code of ['unreachable', 'tls', 'timeout', 'closed'] as const) {
  test(`WATCH-9 while connections break (${code}) the waits double from 0.8 s to 4 s`, async () => {
    const fail = (request: FakeRequest) => request.fail(code, 'broken');
    assert.deepEqual(await waits(5, 0, fail), [800, 1600, 3200, 4000, 4000]);
  });
}

for (const status of [401, 403, 429]) {
  test(`WATCH-9 while the server answers ${status} the waits double from 0.8 s to 10 s`, async () => {
    const fail = (request: FakeRequest) => request.refuse(status, 'Some', 'reason');
    assert.deepEqual(await waits(6, 0, fail), [800, 1600, 3200, 6400, 10_000, 10_000]);
  });
}

test('WATCH-9 while there are no credentials the waits double from 0.8 s to 10 s', async () => {
  const fail = (request: FakeRequest) => request.fail('credentials', 'the plugin failed');
  assert.deepEqual(await waits(6, 0, fail), [800, 1600, 3200, 6400, 10_000, 10_000]);
});

test('WATCH-9 a random time of up to the same length is added to a wait', async () => {
  assert.deepEqual(await waits(3, 0.5, request => request.fail('tls', 'broken')), [1200, 2400, 4800]);
});

test('WATCH-9 after a server was gone, its first answers with an error cost only short waits', () =>
  withInformer(async parts => {
    let request = await parts.start();
    const fails = async (fail: () => void) => {
      fail();
      const wait = await waitForRequest(parts);
      request = parts.api.next();
      return wait;
    };
    const forbidden = () => request.refuse(403, 'Forbidden', 'no');
    for (const wait of [800, 1600, 3200]) assert.equal(await fails(forbidden), wait);
    assert.equal(await fails(() => request.fail('unreachable', 'refused', 'ECONNREFUSED')), 500);
    assert.equal(await fails(forbidden), 800);
  }));

test('WATCH-9 after two minutes without a failure the wait is the shortest again', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    let request = await parts.startWatch();
    for (const [pauseMs, wait] of [
      [1000, 800],
      [118_200, 1600],
      [117_401, 800],
    ] as const) {
      await clock.advance(pauseMs);
      request.fail('timeout', 'no answer');
      assert.equal(await waitForRequest(parts), wait);
      request = api.next();
      request.answer();
      // The check of a server that was away.
      await clock.advance(1000);
      api.next().reply(list('20', []));
      await clock.advance(0);
      request = api.next();
      request.answer();
      await clock.advance(0);
    }
  }));
