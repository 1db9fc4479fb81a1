import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FakeRequest, status } from '../../../test/support/fake-api.ts';
import {
  added,
  failed,
  type InformerCase,
  initialEnd,
  list,
  modified,
  service,
  withInformer,
} from '../../../test/support/informer-case.ts';

/** Answers each request in the same way for ten minutes. Returns the number of requests. */
async function requestsInTenMinutes(parts: InformerCase, answer: (request: FakeRequest, count: number) => void) {
  const { api, clock } = parts;
  const before = api.requests.length;
  const count = () => api.requests.length - before;
  const end = clock.elapsed() + 600_000;
  while (clock.elapsed() < end && count() < 2000) {
    await clock.advance(api.waiting > 0 ? 0 : 100);
    if (api.waiting > 0) answer(api.next(), count());
  }
  return count();
}

const GONE = status(410, 'Expired', 'too old resource version');

for (const [what, answer] of [
  ['each request with 410', request => request.refuse(410, 'Expired', 'too old resource version')],
  [
    'each request with 429, to be retried at once',
    request => request.refuse(429, 'Busy', 'no', { 'retry-after': '0' }),
  ],
  ['each request with 503', request => request.refuse(503, 'ServiceUnavailable', 'etcd is away')],
  [
    'each list with all objects, and then 410',
    request => {
      request.answer();
      if (request.query.sendInitialEvents) request.send(added(service('a@1')), initialEnd('10'));
      request.send(failed(GONE));
    },
  ],
  [
    'each watch with 410, but has no streaming lists',
    request => {
      if (request.query.sendInitialEvents) request.refuse(400, 'BadRequest', 'unknown');
      else if (request.query.watch) request.refuse(410, 'Expired', 'too old resource version');
      else request.reply(list('10', [service('a@1')]));
    },
  ],
] as [string, (request: FakeRequest) => void][]) {
  test(`WATCH-21 a server that answers ${what}, gets few requests`, () =>
    withInformer(async parts => {
      parts.informer.start();
      const count = await requestsInTenMinutes(parts, answer);
      assert.ok(count > 10 && count < 180, `${count} requests in ten minutes`);
    }));
}

test('WATCH-21 a server that ends each watch after one event gets few requests', () =>
  withInformer(async parts => {
    const watch = await parts.startWatch(service('a@1'));
    watch.end();
    const count = await requestsInTenMinutes(parts, (request, index) => {
      request.answer();
      request.send(modified(service(`a@${100 + index}`)));
      request.end();
    });
    assert.ok(count < 180, `${count} requests in ten minutes`);
  }));

test('WATCH-21 a server that breaks each watch after one event gets few requests', () =>
  withInformer(async parts => {
    const watch = await parts.startWatch(service('a@1'));
    watch.fail('closed', 'broken off');
    const count = await requestsInTenMinutes(parts, (request, index) => {
      request.answer();
      request.send(modified(service(`a@${100 + index}`)));
      request.fail('closed', 'broken off');
    });
    assert.ok(count < 400, `${count} requests in ten minutes`);
  }));

for (const [what, token] of [
  ['the same next page', () => 'again'],
  ['ever more pages', (count: number) => `page-${count}`],
] as const) {
  test(`WATCH-21 a list that names ${what} for ever ends as a problem`, () =>
    withInformer(async parts => {
      let request = await parts.startPlainList();
      for (let count = 0; count < 20_000 && parts.failures.length === 0; count++) {
        request.reply(list('10', [service('a@1')], token(count)));
        await parts.clock.advance(0);
        if (parts.api.waiting > 0) request = parts.api.next();
      }
      assert.match(parts.failures[0]?.message ?? '', /the list has no end/);
    }));
}

test('WATCH-21 an event that comes thousands of times is handed over once', () =>
  withInformer(async parts => {
    const watch = await parts.startWatch(service('a@1'));
    for (let second = 0; second < 10; second++) {
      watch.send(...Array(1000).fill(modified(service('a@11'))));
      await parts.clock.advance(1000);
    }
    assert.deepEqual(parts.takeChanges(), ['updated a@1 a@11']);
    assert.equal(watch.isAborted, false);
  }));
