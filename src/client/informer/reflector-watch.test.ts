import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '../../../test/support/fake-api.ts';
import {
  added,
  bookmark,
  deleted,
  failed,
  initialEnd,
  modified,
  service,
  withInformer,
} from '../../../test/support/informer-case.ts';

test('WATCH-7 after a watch that the server ends, the next watch starts at once from the last version', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    let watch = await parts.startWatch(service('a@1'));
    for (const [event, version] of [
      [modified(service('a@11')), '11'],
      [bookmark('15'), '15'],
      [deleted(service('a@16')), '16'],
    ] as const) {
      watch.send(event);
      watch.end();
      await clock.advance(0);
      watch = api.next();
      assert.equal(watch.query.resourceVersion, version);
      assert.equal(watch.query.sendInitialEvents, undefined);
      watch.answer();
      await clock.advance(1000);
    }
    assert.deepEqual(parts.failures, []);
  }));

test('WATCH-7 a watch lasts between five and ten minutes', () => {
  const seconds = async (random: number) => {
    let found = '';
    await withInformer(
      async ({ informer, api, clock }) => {
        informer.start();
        await clock.advance(0);
        found = api.next().query.timeoutSeconds ?? '';
      },
      { random: () => random },
    );
    return Number(found);
  };
  return Promise.all([seconds(0), seconds(0.5), seconds(0.999)]).then(found =>
    assert.deepEqual(found, [300, 450, 599]),
  );
});

test('WATCH-7 a watch whose connection breaks after a while goes on at once, and is not a problem', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    const watch = await parts.startWatch();
    await clock.advance(5000);
    watch.fail('closed', 'the connection broke off');
    await clock.advance(0);
    assert.equal(api.next().query.resourceVersion, '10');
    assert.deepEqual(parts.failures, []);
  }));

test('WATCH-7 a watch whose connection breaks as soon as it starts is a problem, and is retried after a wait', () =>
  withInformer(async parts => {
    const { api, clock, failures } = parts;
    const watch = await parts.startWatch();
    watch.end();
    await clock.advance(0);
    const broken = api.next();
    broken.answer();
    broken.fail('closed', 'the connection broke');
    await clock.advance(799);
    assert.equal(api.waiting, 0);
    await clock.advance(1);
    assert.equal(api.next().query.resourceVersion, '10');
    assert.match(failures[0]?.message ?? '', /the connection broke/);
  }));

test('WATCH-10 if the server is unreachable the reflector retries the watch from its version, without a list', () =>
  withInformer(async parts => {
    const { api, clock, failures, recovered } = parts;
    const watch = await parts.startWatch(service('a@1'));
    await clock.advance(5000);
    watch.fail('closed', 'the connection broke off');
    await clock.advance(0);
    for (const wait of [500, 500, 500, 500]) {
      const request = api.next();
      assert.equal(request.query.resourceVersion, '10');
      request.fail('unreachable', 'connect ECONNREFUSED 127.0.0.1:6443', 'ECONNREFUSED');
      await clock.advance(wait - 1);
      assert.equal(api.waiting, 0);
      await clock.advance(1);
    }
    assert.deepEqual(failures, [
      {
        where: '/api/v1/services',
        message: 'connect ECONNREFUSED 127.0.0.1:6443',
      },
    ]);
    api.next().answer();
    await clock.advance(0);
    assert.deepEqual(recovered, ['/api/v1/services']);
    assert.deepEqual(parts.changes, []);
  }));

test('WATCH-10 a retry waits as long as a busy server asks, and at least as long as the back-off', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    const watch = await parts.startWatch();
    watch.end();
    await clock.advance(0);
    api.next().refuse(429, 'TooManyRequests', 'come back later', { 'retry-after': '7' });
    await clock.advance(6999);
    assert.equal(api.waiting, 0);
    await clock.advance(1);
    const request = api.next();
    assert.equal(request.query.resourceVersion, '10');
    request.refuse(429, 'TooManyRequests', 'come back later', { 'retry-after': '1' });
    await clock.advance(1599);
    assert.equal(api.waiting, 0);
    await clock.advance(1);
    assert.equal(api.next().query.resourceVersion, '10');
  }));

test('WATCH-10 proxies that a busy server refuses together do not come back together', () =>
  withInformer(
    async parts => {
      const { api, clock } = parts;
      (await parts.start()).refuse(429, 'TooManyRequests', 'come back later', { 'retry-after': '8' });
      await clock.advance(11_999);
      assert.equal(api.waiting, 0);
      await clock.advance(1);
      assert.equal(api.waiting, 1);
    },
    { random: () => 0.5 },
  ));

for (const code of [401, 403, 429, 500, 503]) {
  test(`WATCH-10 a watch that is refused with ${code} is retried from its version`, () =>
    withInformer(async parts => {
      const { api, clock, failures } = parts;
      const watch = await parts.startWatch();
      await clock.advance(1000);
      watch.end();
      await clock.advance(0);
      api.next().refuse(code, 'Some', 'the reason why');
      await clock.advance(800);
      const retry = api.next();
      assert.deepEqual([retry.query.sendInitialEvents, retry.query.resourceVersion], [undefined, '10']);
      assert.match(failures[0]?.message ?? '', /the reason why/);
    }));
}

test('WATCH-10 the reflector does not wait longer than a minute, even if a busy server asks for it', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    const watch = await parts.startWatch();
    watch.end();
    await clock.advance(0);
    api.next().refuse(429, 'TooManyRequests', 'come back tomorrow', { 'retry-after': '86400' });
    await clock.advance(59_999);
    assert.equal(api.waiting, 0);
    await clock.advance(1);
    assert.equal(api.next().query.resourceVersion, '10');
  }));

test('WATCH-10 after a watch that is refused as a bad request comes a fresh list', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    const watch = await parts.startWatch();
    await clock.advance(1000);
    watch.end();
    await clock.advance(0);
    api.next().refuse(400, 'BadRequest', 'resourceVersion is wrong');
    await clock.advance(800);
    assert.equal(api.next().query.sendInitialEvents, 'true');
  }));

test('WATCH-10 the waits grow if the server ends watches as soon as they start', () =>
  withInformer(async parts => {
    const { api, clock, failures } = parts;
    const watch = await parts.startWatch();
    await clock.advance(1000);
    watch.end();
    await clock.advance(0);
    for (const wait of [800, 1600, 3200]) {
      const request = api.next();
      request.answer();
      request.end();
      await clock.advance(wait - 1);
      assert.equal(api.waiting, 0);
      await clock.advance(1);
    }
    assert.match(failures[0]?.message ?? '', /ends the watch as soon as it starts/);
  }));

test('WATCH-8 after a version that is too old, as a status or in the stream, comes a list that is not older', () =>
  withInformer(async parts => {
    const { api, clock, changes } = parts;
    const watch = await parts.startWatch(service('a@1'), service('b@2'));
    watch.send(failed(status(410, 'Expired', 'too old resource version: 10 (20)')));
    await clock.advance(799);
    assert.equal(api.waiting, 0, 'many proxies may need a list at the same moment');
    await clock.advance(1);
    const fresh = api.next();
    assert.deepEqual([fresh.query.sendInitialEvents, fresh.query.resourceVersion], ['true', '10']);
    fresh.answer();
    fresh.send(added(service('a@1')), added(service('c@15')), initialEnd('20'));
    await clock.advance(1000);
    assert.deepEqual(parts.takeChanges(), ['added c@15', 'removed b@2']);
    fresh.end();
    await clock.advance(0);
    api.next().refuse(410, 'Expired', 'too old resource version: 20 (30)');
    await clock.advance(1600);
    assert.equal(api.next().query.resourceVersion, '20');
    assert.deepEqual(changes, []);
    assert.deepEqual(parts.failures, []);
  }));

for (const [what, code, reason, message] of [
  ['no longer knows', 410, 'Expired', 'too old resource version'],
  ['does not know yet', 504, 'Timeout', 'Timeout: Too large resource version: 10, current: 5'],
] as const) {
  test(`WATCH-8 if the server ${what} the version of a list, a list without a version follows at once`, () =>
    withInformer(async parts => {
      const { api, clock, informer } = parts;
      const watch = await parts.startWatch(service('a@9'));
      watch.send(failed(status(410, 'Gone', 'gone')));
      await clock.advance(800);
      api.next().refuse(code, reason, message);
      await clock.advance(0);
      const fresh = api.next();
      assert.deepEqual([fresh.query.sendInitialEvents, fresh.query.resourceVersion], ['true', undefined]);
      fresh.answer();
      fresh.send(added(service('a@3')), initialEnd('5'));
      await clock.advance(1000);
      assert.equal(informer.get('shop/a')?.metadata.resourceVersion, '3');
      fresh.end();
      await clock.advance(0);
      const next = api.next();
      assert.equal(next.query.resourceVersion, '5');
      next.refuse(410, 'Expired', 'too old resource version');
      await clock.advance(1600);
      assert.equal(api.next().query.resourceVersion, '5', 'the new version is used again');
    }));
}

test('WATCH-8 the reflector waits before it retries a list that the server calls too old', () =>
  withInformer(async parts => {
    const { api, clock, informer } = parts;
    informer.start();
    await clock.advance(0);
    for (const wait of [800, 1600]) {
      api.next().refuse(410, 'Expired', 'too old');
      await clock.advance(wait - 1);
      assert.equal(api.waiting, 0);
      await clock.advance(1);
    }
    assert.equal(parts.failures.length, 1);
  }));

test('WATCH-8 the reflector waits if the server calls even a list without a version too old', () =>
  withInformer(async parts => {
    const { api, clock, failures } = parts;
    const watch = await parts.startWatch();
    watch.send(failed(status(410, 'Gone', 'gone')));
    await clock.advance(800);
    api.next().refuse(410, 'Expired', 'too old');
    await clock.advance(0);
    api.next().refuse(410, 'Expired', 'too old');
    await clock.advance(799);
    assert.equal(api.waiting, 0);
    await clock.advance(1);
    assert.equal(api.next().query.resourceVersion, undefined);
    assert.equal(failures.length, 1);
  }));

test('WATCH-8 an error in the stream that has only the reason Gone means a version that is too old', () =>
  withInformer(async parts => {
    const watch = await parts.startWatch();
    watch.send(failed({ kind: 'Status', reason: 'Gone' }));
    await parts.clock.advance(800);
    assert.equal(parts.api.next().query.sendInitialEvents, 'true');
    assert.deepEqual(parts.failures, []);
  }));

test('WATCH-8 the wait for a version that is too old does not grow with earlier failures', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    const watch = await parts.startWatch();
    await clock.advance(1000);
    watch.fail('closed', 'the server is restarted');
    await clock.advance(0);
    for (const wait of [800, 1600, 3200, 6400]) {
      api.next().fail('unreachable', 'refused');
      await clock.advance(wait);
    }
    const again = api.next();
    again.answer();
    again.send(failed(status(410, 'Expired', 'too old resource version')));
    await clock.advance(800);
    assert.equal(api.next().query.sendInitialEvents, 'true');
  }));

test('WATCH-8 the waits grow if versions are always too old', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    let watch = await parts.startWatch();
    for (const wait of [800, 1600, 3200]) {
      watch.send(failed(status(410, 'Expired', 'too old resource version')));
      await clock.advance(wait - 1);
      assert.equal(api.waiting, 0);
      await clock.advance(1);
      watch = api.next();
      watch.answer();
      watch.send(initialEnd('20'));
      await clock.advance(0);
    }
  }));

test('WATCH-8 another error in the stream is reported, and the watch is retried', () =>
  withInformer(async parts => {
    const { api, clock, failures } = parts;
    const watch = await parts.startWatch();
    watch.send(failed(status(500, 'InternalError', 'etcd is away')));
    await clock.advance(800);
    assert.equal(api.next().query.resourceVersion, '10');
    assert.match(failures[0]?.message ?? '', /etcd is away/);
  }));
