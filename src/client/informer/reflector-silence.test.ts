import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FakeRequest } from '../../../test/support/fake-api.ts';
import {
  bookmark,
  type InformerCase,
  initialEnd,
  list,
  modified,
  service,
  withInformer,
} from '../../../test/support/informer-case.ts';

const SILENT_MS = 180_000;

test('WATCH-20 after three silent minutes the reflector asks for the version of the server, with the smallest list', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    const watch = await parts.startWatch(service('a@9'));
    await clock.advance(SILENT_MS - 1);
    assert.deepEqual([watch.isAborted, api.waiting], [false, 0]);
    await clock.advance(1);
    assert.equal(watch.isAborted, true);
    assert.deepEqual(api.next().query, { limit: '1' });
  }));

test('WATCH-20 PROGRAMMED-4 if the server is at an older version, the reflector lists everything anew and hands over every object', () =>
  withInformer(async parts => {
    const { api, clock, informer, stalls, recovered } = parts;
    await parts.startWatch(service('gone@8'), service('same@9'));
    assert.equal(informer.version, '10');
    await clock.advance(SILENT_MS);
    api.next().reply(list('7', [service('same@5')]));
    await clock.advance(0);
    const fresh = api.next();
    assert.equal(informer.version, undefined);
    assert.deepEqual([fresh.query.sendInitialEvents, fresh.query.resourceVersion], ['true', undefined]);
    assert.match(stalls[0]?.message ?? '', /the API server is at version 7, older than 10: .* restored/);
    fresh.answer();
    // The new history may give a version to another state of an object than the old one.
    fresh.send({ type: 'ADDED', object: service('same@9') }, initialEnd('9'));
    await clock.advance(0);
    assert.deepEqual(parts.takeChanges(), ['updated same@9 same@9', 'removed gone@8']);
    assert.equal(informer.version, '9');
    assert.deepEqual(recovered, ['/api/v1/services']);
    fresh.end();
    await clock.advance(1000);
    assert.equal(api.next().query.resourceVersion, '9', 'the watch follows the new history');
  }));

for (const version of ['10', '11', '99999999999999999999']) {
  test(`WATCH-20 if the server is at version ${version}, not older than 10, only the watch starts anew`, () =>
    withInformer(async parts => {
      const { api, clock, failures, stalls } = parts;
      await parts.startWatch(service('a@9'));
      await clock.advance(SILENT_MS);
      api.next().reply(list(version, [service('b@11')]));
      await clock.advance(0);
      const { query } = api.next();
      assert.deepEqual([query.watch, query.sendInitialEvents, query.resourceVersion], ['true', undefined, '10']);
      assert.deepEqual([parts.takeChanges(), failures, stalls], [[], [], []]);
    }));
}

test('WATCH-20 if versions cannot be compared, the reflector asks for a list that is not older', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    await parts.startWatch(service('a@9'));
    await clock.advance(SILENT_MS);
    api.next().reply(list('x7', []));
    await clock.advance(0);
    const fresh = api.next();
    assert.deepEqual([fresh.query.sendInitialEvents, fresh.query.resourceVersion], ['true', '10']);
    fresh.refuse(504, 'Timeout', 'Timeout: Too large resource version: 10, current: 5');
    await clock.advance(0);
    assert.equal(api.next().query.resourceVersion, undefined);
  }));

test('WATCH-20 if the server refuses to say its version, a list that is not older follows, and nothing is reported', () =>
  withInformer(async parts => {
    const { api, clock, failures } = parts;
    await parts.startWatch(service('a@9'));
    await clock.advance(SILENT_MS);
    api.next().refuse(403, 'Forbidden', 'User "x" cannot list resource "services"');
    await clock.advance(0);
    const { query } = api.next();
    assert.deepEqual([query.sendInitialEvents, query.resourceVersion], ['true', '10']);
    assert.deepEqual(failures, []);
  }));

test('WATCH-20 if the server is too busy to say its version, the watch goes on, and no list follows', () =>
  withInformer(async parts => {
    const { api, clock, failures } = parts;
    await parts.startWatch(service('a@9'));
    await clock.advance(SILENT_MS);
    api.next().refuse(429, 'TooManyRequests', 'too many requests', { 'retry-after': '2' });
    await clock.advance(1999);
    assert.equal(api.waiting, 0);
    await clock.advance(1);
    const { query } = api.next();
    assert.deepEqual([query.watch, query.sendInitialEvents, query.resourceVersion], ['true', undefined, '10']);
    assert.match(failures[0]?.message ?? '', /too many requests/);
  }));

test('WATCH-20 events and bookmarks end the silence', () =>
  withInformer(async parts => {
    const { clock } = parts;
    const watch = await parts.startWatch(service('a@9'));
    for (const event of [bookmark('40'), modified(service('a@41'))]) {
      await clock.advance(60_000);
      watch.send(event);
    }
    await clock.advance(SILENT_MS - 1);
    assert.equal(watch.isAborted, false);
    await clock.advance(1);
    assert.equal(watch.isAborted, true);
  }));

for (const [what, answer] of [
  ['no answer at all', () => {}],
  ['an error whose text never ends', (request: FakeRequest) => request.answer(500)],
] as const) {
  test(`WATCH-20 a watch that gets ${what} counts as silent, too`, () =>
    withInformer(async parts => {
      const { api, clock } = parts;
      const watch = await parts.startWatch(service('a@9'));
      await clock.advance(1000);
      watch.end();
      await clock.advance(0);
      const silent = api.next();
      answer(silent);
      await clock.advance(SILENT_MS);
      assert.equal(silent.isAborted, true);
      assert.deepEqual(api.next().query, { limit: '1' });
    }));
}

/** A watch whose server was away for a moment, and is there again. */
async function reconnected(parts: InformerCase): Promise<FakeRequest> {
  const { api, clock } = parts;
  const first = await parts.startWatch(service('a@9'));
  await clock.advance(1000);
  first.fail('closed', 'broken off');
  await clock.advance(0);
  api.next().fail('unreachable', 'refused', 'ECONNREFUSED');
  await clock.advance(1000);
  const watch = api.next();
  watch.answer();
  await clock.advance(0);
  return watch;
}

test('WATCH-22 soon after the server was away, the reflector checks its version once, even if events come', () =>
  withInformer(
    async parts => {
      const { api, clock } = parts;
      const watch = await reconnected(parts);
      watch.send(modified(service('a@11')));
      await clock.advance(5499);
      assert.equal(watch.isAborted, false);
      await clock.advance(1);
      assert.equal(watch.isAborted, true);
      api.next().reply(list('11', []));
      await clock.advance(0);
      const next = api.next();
      assert.deepEqual([next.query.watch, next.query.resourceVersion], ['true', '11']);
      next.answer();
      await clock.advance(SILENT_MS - 1);
      assert.equal(next.isAborted, false, 'the next check is one for silence');
    },
    { random: () => 0.5 },
  ));

test('WATCH-22 if the server is set back, the reflector lists everything anew at once', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    await reconnected(parts);
    await clock.advance(10_000);
    api.next().reply(list('7', []));
    await clock.advance(0);
    const { query } = api.next();
    assert.deepEqual([query.sendInitialEvents, query.resourceVersion], ['true', undefined]);
  }));

test('WATCH-22 a watch that only ended, or whose connection broke once, continues without a check', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    const watch = await parts.startWatch(service('a@9'));
    await clock.advance(5000);
    watch.fail('closed', 'broken off');
    await clock.advance(0);
    const next = api.next();
    next.answer();
    await clock.advance(60_000);
    assert.equal(next.isAborted, false);
  }));

test('WATCH-20 a quiet resource of a server without bookmarks costs at most one check each three minutes', () =>
  withInformer(
    async parts => {
      const { api, clock } = parts;
      await parts.startWatch(service('a@9'));
      const checkedAt: number[] = [];
      const end = clock.elapsed() + 3_600_000;
      while (clock.elapsed() < end) {
        await clock.advance(1000);
        if (api.waiting === 0) continue;
        const request = api.next();
        if (request.query.watch) request.answer();
        else request.reply(list('10', []));
        if (!request.query.watch) checkedAt.push(clock.elapsed());
        assert.equal(request.query.sendInitialEvents, undefined);
      }
      const pauses = checkedAt.map((at, index) => at - (checkedAt[index - 1] ?? 0));
      assert.ok(pauses.length >= 15, `${pauses.length} checks`);
      assert.ok(Math.min(...pauses) >= SILENT_MS, `${pauses}`);
      assert.ok(Math.max(...pauses) <= SILENT_MS + 17_000, `${pauses}`);
      assert.ok(new Set(pauses.map(pause => Math.round(pause / 1000))).size > 3, 'the checks have jitter');
    },
    { random: Math.random },
  ));
