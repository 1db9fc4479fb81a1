import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '../../test/support/fake-api.ts';
import {
  added,
  bookmark,
  deleted,
  failed,
  type InformerCase,
  initialEnd,
  list,
  modified,
  service,
  withInformer,
} from '../../test/support/informer-case.ts';

/** Until the informer streams its first list, which is then refused so that it lists. */
async function untilList({ informer, api, clock }: InformerCase) {
  informer.start();
  await clock.advance(0);
  api.next().refuse(422, 'Invalid', 'sendInitialEvents is forbidden');
  await clock.advance(0);
  return api.next();
}

test('WATCH-4 the first list is asked for as a stream', () =>
  withInformer(
    async ({ informer, api, clock }) => {
      informer.start();
      await clock.advance(0);
      const request = api.next();
      assert.equal(request.path, '/api/v1/services');
      assert.equal(request.accept, 'application/json');
      assert.deepEqual(request.query, {
        labelSelector: '!x',
        fieldSelector: 'spec.clusterIP!=None',
        watch: 'true',
        allowWatchBookmarks: 'true',
        timeoutSeconds: '300',
        sendInitialEvents: 'true',
        resourceVersionMatch: 'NotOlderThan',
      });
    },
    {
      resource: {
        kind: 'Service',
        apiVersion: 'v1',
        path: '/api/v1/services',
        labelSelector: '!x',
        fieldSelector: 'spec.clusterIP!=None',
      },
    },
  ));

test('WATCH-4 objects are told as they come, and all are there at the marked bookmark', () =>
  withInformer(async ({ informer, api, told, clock }) => {
    informer.start();
    await clock.advance(0);
    const request = api.next();
    request.answer();
    request.send(added(service('a@1')), bookmark('5'), added(service('b@2')));
    await clock.advance(0);
    assert.deepEqual(told, ['added a@1', 'added b@2']);
    assert.equal(informer.hasSynced, false);
    request.send(initialEnd('7'), modified(service('a@8')), deleted(service('b@9')));
    await clock.advance(0);
    assert.deepEqual(told.slice(2), ['synced', 'updated a@1 a@8', 'deleted b@2']);
    assert.equal(api.requests.length, 1, 'the stream goes on as the watch');
  }));

test('WATCH-6 a server that cannot stream is asked for pages out of its memory, then watched', () =>
  withInformer(async parts => {
    const { api, clock, told } = parts;
    const first = await untilList(parts);
    assert.deepEqual(first.query, { resourceVersion: '0', limit: '500' });
    first.reply(list('7', [service('a@1')], 'more'));
    await clock.advance(0);
    const second = api.next();
    assert.deepEqual(second.query, { limit: '500', continue: 'more' });
    assert.deepEqual(told, ['added a@1']);
    second.reply(list('7', [service('b@2')]));
    await clock.advance(0);
    assert.deepEqual(told, ['added a@1', 'added b@2', 'synced']);
    const watch = api.next();
    assert.deepEqual(watch.query, {
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '300',
      resourceVersion: '7',
    });
    assert.deepEqual(parts.problems, [], 'that a server cannot stream is no problem');
  }));

test('WATCH-6 a server that never marks the end of the first list is asked for pages too', () =>
  withInformer(async ({ informer, api, clock }) => {
    informer.start();
    await clock.advance(0);
    const request = api.next();
    request.answer();
    request.send(added(service('a@1')));
    await clock.advance(300_000);
    request.end();
    await clock.advance(0);
    assert.deepEqual(api.next().query, { resourceVersion: '0', limit: '500' });
  }));

test('WATCH-6 pages that expire are followed by a full list of the newest', () =>
  withInformer(async parts => {
    const { api, clock, informer } = parts;
    (await untilList(parts)).reply(list('7', [service('a@1')], 'more'));
    await clock.advance(0);
    api.next().refuse(410, 'Expired', 'the provided continue parameter is too old');
    await clock.advance(0);
    const full = api.next();
    assert.deepEqual(full.query, {});
    full.reply(list('9', [service('b@2')]));
    await clock.advance(0);
    assert.deepEqual(
      [...informer.objects()].map(({ metadata }) => metadata.name),
      ['b'],
    );
    assert.equal(api.next().query.resourceVersion, '9');
  }));

test('WATCH-6 a list that breaks off is begun again, and what it had brought is compared', () =>
  withInformer(async parts => {
    const { api, clock, informer, told } = parts;
    const first = await untilList(parts);
    first.answer();
    first.send('{"kind":"ServiceList","items":[');
    first.fail('closed', 'the connection broke off');
    await clock.advance(800);
    assert.equal(informer.hasSynced, false);
    assert.equal(api.next().query.sendInitialEvents, 'true');
    assert.deepEqual(told, []);
  }));

test('WATCH-7 a watch that the server ends goes on from the last version at once', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    let watch = await parts.follow(service('a@1'));
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
    }
    assert.deepEqual(parts.problems, []);
  }));

test('WATCH-7 a watch is asked for between five and ten minutes', () => {
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

test('WATCH-7 a connection that breaks after it had lasted is taken up again at once, and is no problem', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    const watch = await parts.follow();
    await clock.advance(5000);
    watch.fail('closed', 'the connection broke off');
    await clock.advance(0);
    assert.equal(api.next().query.resourceVersion, '10');
    assert.deepEqual(parts.problems, []);
  }));

test('WATCH-10 without a server the watch is tried again from its version, without a list', () =>
  withInformer(async parts => {
    const { api, clock, problems, recovered } = parts;
    const watch = await parts.follow(service('a@1'));
    await clock.advance(5000);
    watch.fail('closed', 'the connection broke off');
    await clock.advance(0);
    for (const wait of [800, 1600, 3200, 6400]) {
      const request = api.next();
      assert.equal(request.query.resourceVersion, '10');
      request.fail('unreachable', 'connect ECONNREFUSED 127.0.0.1:6443');
      await clock.advance(wait - 1);
      assert.equal(api.waiting, 0);
      await clock.advance(1);
    }
    assert.deepEqual(problems, [
      {
        where: '/api/v1/services',
        message: 'cannot be followed, and is tried again: connect ECONNREFUSED 127.0.0.1:6443',
      },
    ]);
    api.next().answer();
    await clock.advance(0);
    assert.deepEqual(recovered, ['/api/v1/services']);
    assert.deepEqual(parts.told, []);
  }));

test('WATCH-10 a server that is busy is left alone for as long as it asks, and at least as long as the back-off', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    const watch = await parts.follow();
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

for (const code of [401, 403, 500, 503]) {
  test(`WATCH-10 a watch refused with ${code} is tried again from its version`, () =>
    withInformer(async parts => {
      const { api, clock, problems } = parts;
      const watch = await parts.follow();
      await clock.advance(1000);
      watch.end();
      await clock.advance(0);
      api.next().refuse(code, 'Some', 'the reason why');
      await clock.advance(800);
      assert.equal(api.next().query.resourceVersion, '10');
      assert.match(problems[0]?.message ?? '', /the reason why/);
    }));
}

test('WATCH-10 a watch refused as a bad request is followed by a fresh list', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    const watch = await parts.follow();
    await clock.advance(1000);
    watch.end();
    await clock.advance(0);
    api.next().refuse(400, 'BadRequest', 'resourceVersion is wrong');
    await clock.advance(800);
    assert.equal(api.next().query.sendInitialEvents, 'true');
  }));

test('WATCH-10 a server that ends watches as soon as they begin is asked less and less often', () =>
  withInformer(async parts => {
    const { api, clock, problems } = parts;
    const watch = await parts.follow();
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
    assert.match(problems[0]?.message ?? '', /ends the watch as soon as it has begun/);
  }));

test('WATCH-8 a version that is too old, by status or in the stream, is followed by a list that is not older', () =>
  withInformer(async parts => {
    const { api, clock, told } = parts;
    const watch = await parts.follow(service('a@1'), service('b@2'));
    watch.send(failed(status(410, 'Expired', 'too old resource version: 10 (20)')));
    await clock.advance(799);
    assert.equal(api.waiting, 0, 'many proxies may have to list');
    await clock.advance(1);
    const fresh = api.next();
    assert.deepEqual([fresh.query.sendInitialEvents, fresh.query.resourceVersion], ['true', '10']);
    fresh.answer();
    fresh.send(added(service('a@1')), added(service('c@15')), initialEnd('20'));
    await clock.advance(1000);
    assert.deepEqual(parts.takeTold(), ['added c@15', 'deleted b@2']);
    fresh.end();
    await clock.advance(0);
    api.next().refuse(410, 'Expired', 'too old resource version: 20 (30)');
    await clock.advance(1600);
    assert.equal(api.next().query.resourceVersion, '20');
    assert.deepEqual(told, []);
    assert.deepEqual(parts.problems, []);
  }));

for (const [what, code, reason, message] of [
  ['knows no longer', 410, 'Expired', 'too old resource version'],
  ['does not know yet', 504, 'Timeout', 'Timeout: Too large resource version: 10, current: 5'],
] as const) {
  test(`WATCH-8 a list at a version that the server ${what} is asked for without one, at once`, () =>
    withInformer(async parts => {
      const { api, clock, informer } = parts;
      const watch = await parts.follow(service('a@9'));
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
      assert.equal(api.next().query.resourceVersion, '5');
    }));
}

test('WATCH-8 a server that finds every version too old is not asked without a pause', () =>
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
    assert.equal(parts.problems.length, 1);
  }));

test('WATCH-8 a version that is too old after a long failure is not waited for any longer than otherwise', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    const watch = await parts.follow();
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

test('WATCH-8 a server whose versions are always too old is asked less and less often', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    let watch = await parts.follow();
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

test('WATCH-8 another error in the stream is told and followed by the watch again', () =>
  withInformer(async parts => {
    const { api, clock, problems } = parts;
    const watch = await parts.follow();
    watch.send(failed(status(500, 'InternalError', 'etcd is away')));
    await clock.advance(800);
    assert.equal(api.next().query.resourceVersion, '10');
    assert.match(problems[0]?.message ?? '', /etcd is away/);
  }));

test('WATCH-11 a watch that the server does not end in time is cut', () =>
  withInformer(async parts => {
    const { api, clock, problems } = parts;
    const watch = await parts.follow();
    await clock.advance(329_999);
    assert.equal(watch.isAborted, false);
    await clock.advance(1);
    assert.equal(watch.isAborted, true);
    await clock.advance(800);
    assert.equal(api.next().query.resourceVersion, '10');
    assert.match(problems[0]?.message ?? '', /did not end its answer within 330 s/);
  }));

test('WATCH-11 a server that takes the request and never answers is left, too', () =>
  withInformer(async parts => {
    const { api, clock, informer } = parts;
    informer.start();
    await clock.advance(0);
    const request = api.next();
    await clock.advance(330_000);
    assert.equal(request.isAborted, true);
    await clock.advance(800);
    assert.equal(api.waiting, 1);
  }));

test('WATCH-12 who may not list or watch is told the server’s words and what to do, once, and tries on', () =>
  withInformer(async parts => {
    const { api, clock, problems, recovered, informer } = parts;
    informer.start();
    await clock.advance(0);
    for (const wait of [800, 1600]) {
      api.next().refuse(403, 'Forbidden', 'services is forbidden: User "x" cannot watch resource "services"');
      await clock.advance(wait);
    }
    assert.deepEqual(problems, [
      {
        where: '/api/v1/services',
        message:
          'cannot be followed, and is tried again: services is forbidden: User "x" cannot watch resource "services": ' +
          'bind who we are to the ClusterRole system:node-proxier',
      },
    ]);
    api.next().refuse(401, 'Unauthorized', 'Unauthorized');
    await clock.advance(3200);
    assert.match(problems[1]?.message ?? '', /does not accept our credentials/);
    const request = api.next();
    request.answer();
    await clock.advance(0);
    assert.deepEqual(recovered, [], 'not before the list is complete');
    request.send(initialEnd('3'));
    await clock.advance(0);
    assert.deepEqual(recovered, ['/api/v1/services']);
  }));

for (const [what, chunk] of [
  ['no JSON', 'hello\n'],
  ['no event', '[1]\n'],
  ['an unknown type of event', '{"type":"MOVED","object":{}}\n'],
  ['a bookmark without a version', '{"type":"BOOKMARK","object":{"metadata":{}}}\n'],
  ['an error that is no Status', '{"type":"ERROR","object":7}\n'],
] as const) {
  test(`WATCH-12 a watch that brings ${what} is told of and followed by a fresh list`, () =>
    withInformer(async parts => {
      const { api, clock, problems } = parts;
      const watch = await parts.follow(service('a@1'));
      watch.send(chunk);
      await clock.advance(800);
      assert.equal(api.next().query.sendInitialEvents, 'true');
      assert.match(problems[0]?.message ?? '', /something that is no event/);
      assert.deepEqual(parts.told, [], 'what is known stays');
    }));
}

test('WATCH-12 an answer in another format is told of by its name', () =>
  withInformer(async ({ informer, api, clock, problems }) => {
    informer.start();
    await clock.advance(0);
    api.next().answer(200, 'application/yaml');
    await clock.advance(0);
    assert.match(problems[0]?.message ?? '', /answered as application\/yaml, .* correct acceptContentTypes/);
  }));

test('WATCH-12 an answer to a list that is none is told of', () =>
  withInformer(async parts => {
    (await untilList(parts)).reply({ kind: 'PodList', items: [] });
    await parts.clock.advance(0);
    assert.match(parts.problems[0]?.message ?? '', /the answer to the list cannot be read/);
  }));

test('WATCH-13 closing ends the request or the pause at hand', async () => {
  await withInformer(async parts => {
    const watch = await parts.follow();
    await parts.informer.close();
    assert.equal(watch.isAborted, true);
    assert.equal(parts.clock.pending, 0);
  });
  await withInformer(async ({ informer, api, clock, problems }) => {
    informer.start();
    await clock.advance(0);
    api.next().fail('unreachable', 'no route');
    await clock.advance(0);
    await informer.close();
    assert.equal(clock.pending, 0);
    assert.equal(problems.length, 1);
  });
});
