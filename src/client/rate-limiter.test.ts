import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withClient } from '../../test/support/api-client.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { RateLimiter, rateLimiters } from './rate-limiter.ts';

/** Makes `count` requests now, and returns when each of them could go on. */
async function passTimes(limiter: RateLimiter, clock: ManualClock, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) void limiter.wait().then(() => times.push(clock.now()));
  await clock.advance(10_000);
  return times;
}

test('CLIENT-9 a burst of requests goes on at once, the rest at the rate', async () => {
  const clock = new ManualClock();
  assert.deepEqual(await passTimes(new RateLimiter(5, 3, clock), clock, 6), [0, 0, 0, 200, 400, 600]);
});

test('CLIENT-9 an idle bucket fills up to the burst and not further', async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter(10, 2, clock);
  await passTimes(limiter, clock, 2);
  assert.deepEqual(
    (await passTimes(limiter, clock, 4)).map(time => time - 10_000),
    [0, 0, 100, 200],
  );
});

test('CLIENT-9 wait returns its length, and an aborted wait leaves no timer', async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter(1, 1, clock);
  assert.equal(await limiter.wait(), 0);
  const controller = new AbortController();
  const abortedWait = assert.rejects(limiter.wait(controller.signal), { name: 'ApiError', code: 'aborted' });
  controller.abort();
  await abortedWait;
  assert.equal(clock.pending, 0);
  const waited = limiter.wait();
  await clock.advance(1000);
  assert.equal(await waited, 1000, 'the token of the aborted wait is free again');
});

test('CLIENT-9 a clock that is set back does not use up tokens', async () => {
  const clock = new ManualClock(1_000_000);
  const limiter = new RateLimiter(5, 2, clock);
  clock.set(0);
  assert.equal(await limiter.wait(), 0);
  assert.equal(await limiter.wait(), 0);
});

test('CLIENT-9 with a positive rate all requests share one bucket, with a negative rate there is none', () => {
  const clock = new ManualClock();
  const shared = rateLimiters(5, 10, clock);
  assert.ok(shared('/api/v1/services'));
  assert.equal(shared('/api/v1/services'), shared('/apis/discovery.k8s.io/v1/endpointslices'));
  assert.equal(rateLimiters(-1, 0, clock)('/api/v1/services'), undefined);
});

test('CLIENT-9 with a rate of 0 every API group gets 5 requests a second and 10 at once', async () => {
  const clock = new ManualClock();
  const limiterOf = rateLimiters(0, 0, clock);
  const services = limiterOf('/api/v1/services?watch=true');
  assert.equal(services, limiterOf('/api/v1/nodes/node-a'));
  assert.notEqual(services, limiterOf('/apis/discovery.k8s.io/v1/endpointslices'));
  assert.ok(services);
  assert.deepEqual((await passTimes(services, clock, 12)).slice(9), [0, 200, 400]);
});

test('CLIENT-9 with a rate of 0 a burst that is set counts', async () => {
  const clock = new ManualClock();
  const limiter = rateLimiters(0, 3, clock)('/api/v1/services');
  assert.ok(limiter);
  assert.deepEqual(await passTimes(limiter, clock, 5), [0, 0, 0, 200, 400]);
});

test('CLIENT-9 a rate without a burst is an error in the words of client-go', () => {
  assert.throws(() => rateLimiters(5, 0, new ManualClock()), {
    code: 'configuration',
    message: 'burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater than 0',
  });
});

test('CLIENT-9 requests wait for the rate limit, watches do not, and a long wait is logged', () => {
  const clock = new ManualClock();
  return withClient(
    (_request, response) => void response.end('ok'),
    async ({ get, logLines, server }) => {
      await get();
      const second = get();
      for (let i = 0; i < 3; i++) assert.equal(await get('/x?watch=true'), 'ok');
      assert.equal(server.requests.length, 4);
      await clock.advance(2000);
      assert.equal(await second, 'ok');
      const [line = ''] = logLines;
      assert.match(line, /^Waited before sending request .*"delay":"2s".*client-side throttling.*"verb":"GET"/);
      assert.equal(logLines.length, 1);
    },
    {
      client: {
        clock,
        timeouts: { readIdleMs: 0 },
        clientConnection: { acceptContentTypes: '', contentType: 'a/b', qps: 0.5, burst: 1 },
      },
    },
  );
});
