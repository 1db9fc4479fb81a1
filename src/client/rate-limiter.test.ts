import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withClient } from '../../test/support/api-client.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { RateLimiter, rateLimiters } from './rate-limiter.ts';

/** When each of `count` requests, all made now, gets its turn. */
async function turns(limiter: RateLimiter, clock: ManualClock, count: number): Promise<number[]> {
  const at: number[] = [];
  for (let i = 0; i < count; i++) void limiter.wait().then(() => at.push(clock.now()));
  await clock.advance(10_000);
  return at;
}

test('CLIENT-9 a burst goes at once, the rest at the rate', async () => {
  const clock = new ManualClock();
  assert.deepEqual(await turns(new RateLimiter(5, 3, clock), clock, 6), [0, 0, 0, 200, 400, 600]);
});

test('CLIENT-9 an idle bucket fills up to the burst and no further', async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter(10, 2, clock);
  await turns(limiter, clock, 2);
  assert.deepEqual(
    (await turns(limiter, clock, 4)).map(at => at - 10_000),
    [0, 0, 100, 200],
  );
});

test('CLIENT-9 the wait is told, and whoever gives up leaves no timer', async () => {
  const clock = new ManualClock();
  const limiter = new RateLimiter(1, 1, clock);
  assert.equal(await limiter.wait(), 0);
  const controller = new AbortController();
  const given = assert.rejects(limiter.wait(controller.signal), { name: 'ApiError', code: 'aborted' });
  controller.abort();
  await given;
  assert.equal(clock.pending, 0);
  const waited = limiter.wait();
  await clock.advance(1000);
  assert.equal(await waited, 1000, 'the turn that was given up is free');
});

test('CLIENT-9 a clock that is set back takes no tokens', async () => {
  const clock = new ManualClock(1_000_000);
  const limiter = new RateLimiter(5, 2, clock);
  clock.set(0);
  assert.equal(await limiter.wait(), 0);
  assert.equal(await limiter.wait(), 0);
});

test('CLIENT-9 one bucket for everything with a positive rate, none with a negative one', () => {
  const clock = new ManualClock();
  const shared = rateLimiters(5, 10, clock);
  assert.ok(shared('/api/v1/services'));
  assert.equal(shared('/api/v1/services'), shared('/apis/discovery.k8s.io/v1/endpointslices'));
  assert.equal(rateLimiters(-1, 0, clock)('/api/v1/services'), undefined);
});

test('CLIENT-9 a rate of 0 gives every API group 5 a second and 10 at once', async () => {
  const clock = new ManualClock();
  const limiterOf = rateLimiters(0, 0, clock);
  const services = limiterOf('/api/v1/services?watch=true');
  assert.equal(services, limiterOf('/api/v1/nodes/node-a'));
  assert.notEqual(services, limiterOf('/apis/discovery.k8s.io/v1/endpointslices'));
  assert.ok(services);
  assert.deepEqual((await turns(services, clock, 12)).slice(9), [0, 200, 400]);
});

test('CLIENT-9 a rate without a burst is refused in the words of client-go', () => {
  assert.throws(() => rateLimiters(5, 0, new ManualClock()), {
    code: 'configuration',
    message: 'burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater than 0',
  });
});

test('CLIENT-9 requests wait for their turns, watches do not, and a long wait is told', () => {
  const clock = new ManualClock();
  return withClient(
    (_request, response) => void response.end('ok'),
    async ({ get, told, server }) => {
      await get();
      const second = get();
      for (let i = 0; i < 3; i++) assert.equal(await get('/x?watch=true'), 'ok');
      assert.equal(server.requests.length, 4);
      await clock.advance(2000);
      assert.equal(await second, 'ok');
      const [line = ''] = told;
      assert.match(line, /^Waited before sending request .*"delay":"2s".*client-side throttling.*"verb":"GET"/);
      assert.equal(told.length, 1);
    },
    {
      client: {
        clock,
        times: { readIdleMs: 0 },
        clientConnection: { acceptContentTypes: '', contentType: 'a/b', qps: 0.5, burst: 1 },
      },
    },
  );
});
