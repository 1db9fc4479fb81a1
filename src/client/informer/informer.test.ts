import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  added,
  bookmark,
  deleted,
  initialEnd,
  modified,
  recordingHandler,
  SERVICES,
  service,
  withInformer,
} from '../../../test/support/informer-case.ts';
import { enveloped, watchFrame } from '../../../test/support/protobuf-writer.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf;stream=watch';
const BAD_PORT = { ports: [{ port: 80 }, { port: 99_999 }] };

test('WATCH-2 a watch in protobuf and a watch in JSON give the same objects', async () => {
  const objectsOf = async (contentType: string, file: string) => {
    let found: unknown[] = [];
    await withInformer(async parts => {
      const { informer, clock, failures } = parts;
      const request = await parts.start();
      request.answer(200, contentType);
      request.send(readFileSync(`src/api/protobuf/recorded/${file}`));
      await clock.advance(0);
      assert.equal(informer.hasSynced, true);
      assert.deepEqual(failures, []);
      found = [...informer.objects()];
    });
    return found;
  };
  const protobuf = await objectsOf(PROTOBUF, 'services.watch.pb');
  assert.equal(protobuf.length, 7);
  assert.deepEqual(protobuf, await objectsOf('application/json', 'services.watch.jsonl'));
});

test('WATCH-2 a plain list in protobuf can be read', () =>
  withInformer(async parts => {
    const { informer, api, clock, changes } = parts;
    const streamingList = await parts.start();
    streamingList.refuse(400, 'BadRequest', 'what is sendInitialEvents');
    await clock.advance(0);
    const request = api.next();
    request.answer(200, 'application/vnd.kubernetes.protobuf');
    request.send(readFileSync('src/api/protobuf/recorded/services.pb'));
    request.end();
    await clock.advance(0);
    assert.equal(informer.size, 7);
    assert.equal(changes.at(-1), 'synced');
    assert.match(api.next().query.resourceVersion ?? '', /^\d+$/);
  }));

test('PROGRAMMED-2 PROGRAMMED-3 the version of an informer is that of the last list, change or bookmark', () =>
  withInformer(async parts => {
    const { informer, clock } = parts;
    const watch = await parts.start();
    watch.answer();
    watch.send(added(service('a@4')));
    await clock.advance(0);
    assert.equal(informer.version, undefined, 'the list is not complete');
    watch.send(initialEnd('10'));
    await clock.advance(0);
    assert.equal(informer.version, '10');
    const seen: (string | undefined)[] = [];
    informer.addHandler({ changed: () => seen.push(informer.version), synced: () => {} });
    seen.splice(0);
    watch.send(modified(service('a@11')));
    await clock.advance(0);
    assert.deepEqual(
      [seen, informer.version],
      [['10'], '11'],
      'the handlers receive a change before its version counts',
    );
    watch.send(bookmark('30'));
    await clock.advance(0);
    assert.equal(informer.version, '30');
  }));

test('WATCH-14 handlers receive only the differences of a fresh list', () =>
  withInformer(async parts => {
    const { api, clock, informer } = parts;
    const watch = await parts.startWatch(service('same@1'), service('changed@2'), service('gone@3'));
    watch.send({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
    await clock.advance(800);
    const fresh = api.next();
    fresh.answer();
    fresh.send(added(service('changed@12')), added(service('same@1')), added(service('new@13')));
    await clock.advance(0);
    assert.deepEqual(parts.takeChanges(), ['updated changed@2 changed@12', 'added new@13']);
    assert.equal(informer.size, 4, 'no object is removed before the list is complete');
    fresh.send(initialEnd('20'));
    await clock.advance(0);
    assert.deepEqual(parts.takeChanges(), ['removed gone@3']);
  }));

test('WATCH-14 an object that is deleted while a fresh list streams in is removed', () =>
  withInformer(async parts => {
    const { clock, changes } = parts;
    const request = await parts.start();
    request.answer();
    request.send(added(service('a@1')), deleted(service('a@2')), initialEnd('3'));
    await clock.advance(0);
    assert.deepEqual(changes, ['added a@1', 'removed a@1', 'synced']);
  }));

test('WATCH-14 a modified object that is unknown is added, a deleted one is ignored', () =>
  withInformer(async parts => {
    const watch = await parts.startWatch(service('a@1'));
    watch.send(modified(service('b@11')), deleted(service('c@12')), added(service('a@13')));
    await parts.clock.advance(0);
    assert.deepEqual(parts.changes, ['added b@11', 'updated a@1 a@13']);
  }));

test('WATCH-14 an object without a version is handed over each time', () =>
  withInformer(async parts => {
    const unversioned = { ...service('a'), metadata: { name: 'a', namespace: 'shop' } };
    const watch = await parts.startWatch(unversioned);
    watch.send(modified(unversioned));
    await parts.clock.advance(0);
    assert.deepEqual(parts.changes, ['updated a@undefined a@undefined']);
  }));

test('WATCH-15 an unusable object is reported with its name and field, and its last good version stays', () =>
  withInformer(async parts => {
    const { clock, unusableObjects, recoveredObjects, informer } = parts;
    const watch = await parts.startWatch(service('a@1'), service('b@2'));
    const unusable = service('a@11', BAD_PORT);
    watch.send(modified(unusable), modified(unusable), modified(service('b@12')));
    await clock.advance(0);
    assert.deepEqual(parts.takeChanges(), ['updated b@2 b@12']);
    assert.deepEqual(unusableObjects, [
      {
        where: '/api/v1/namespaces/shop/services/a',
        kind: 'Service',
        object: 'Service shop/a',
        field: 'spec.ports[1].port',
        message: 'is the number 99999, but must be a whole number from 1 to 65535: correct it',
      },
    ]);
    assert.equal(informer.get('shop/a')?.metadata.resourceVersion, '1');
    watch.send(modified(service('a@13')));
    await clock.advance(0);
    assert.deepEqual(parts.takeChanges(), ['updated a@1 a@13']);
    assert.deepEqual(recoveredObjects, ['/api/v1/namespaces/shop/services/a']);
  }));

test('WATCH-15 a fresh list does not remove an unusable object, and it is reported once', () =>
  withInformer(async parts => {
    const { api, clock, unusableObjects, recoveredObjects } = parts;
    const watch = await parts.startWatch(service('a@1'));
    watch.send(modified(service('a@11', BAD_PORT)), modified(service('new@12', BAD_PORT)));
    watch.send({ type: 'ERROR', object: { kind: 'Status', code: 410 } });
    await clock.advance(800);
    const fresh = api.next();
    fresh.answer();
    fresh.send(added(service('a@11', BAD_PORT)), initialEnd('20'));
    await clock.advance(0);
    assert.deepEqual(parts.changes, []);
    assert.equal(unusableObjects.length, 2);
    assert.deepEqual(
      recoveredObjects,
      ['/api/v1/namespaces/shop/services/new'],
      'the problem of an object that is gone is over',
    );
    fresh.send(deleted(service('a@21', BAD_PORT)));
    await clock.advance(0);
    assert.deepEqual(parts.changes, ['removed a@1']);
    assert.equal(recoveredObjects.at(-1), '/api/v1/namespaces/shop/services/a');
  }));

test('WATCH-15 bytes that are not an object do not stop other objects', () =>
  withInformer(async parts => {
    const { clock, unusableObjects, changes } = parts;
    const request = await parts.start();
    request.answer(200, PROTOBUF);
    request.send(watchFrame('ADDED', enveloped('v1', 'Service', [0x0a, 0x70, 1])));
    request.send(readFileSync('src/api/protobuf/recorded/services.watch.pb'));
    await clock.advance(0);
    assert.deepEqual(unusableObjects, [
      {
        where: '/api/v1/services',
        kind: 'Service',
        object: 'Service',
        field: undefined,
        message: 'cannot be read: its bytes are no Service',
      },
    ]);
    assert.equal(changes.length, 8);
  }));

test('WATCH-15 an object without a name, or of another kind, is reported once, and the watch does not fail', () =>
  withInformer(async parts => {
    const watch = await parts.startWatch();
    const nameless = service('');
    const other = { ...service('a@2'), kind: 'Pod' };
    watch.send(added(nameless), added(other), modified(nameless), modified(other));
    watch.send({ type: 'ERROR', object: { kind: 'Status', code: 410 } });
    await parts.clock.advance(800);
    const fresh = parts.api.next();
    fresh.answer();
    fresh.send(added(nameless), initialEnd('20'));
    await parts.clock.advance(0);
    const named = { where: '/api/v1/services', kind: 'Service', object: 'Service' };
    assert.deepEqual(parts.unusableObjects, [
      { ...named, field: 'metadata.name', message: 'is missing: give the object a name' },
      { ...named, field: 'kind', message: 'is Pod, but must be Service' },
    ]);
    assert.deepEqual(parts.failures, []);
  }));

test('WATCH-15 at most 100 objects without names are reported', () =>
  withInformer(async parts => {
    const watch = await parts.startWatch();
    const ports = (port: number) => ({ ports: [{ port }] });
    watch.send(...Array.from({ length: 200 }, (_, i) => added(service('', ports(70_000 + i)))));
    await parts.clock.advance(0);
    assert.equal(new Set(parts.unusableObjects.map(({ message }) => message)).size, 101);
  }));

test('WATCH-16 a handler that is added late receives all objects, then synced', () =>
  withInformer(async parts => {
    const watch = await parts.startWatch(service('a@1'), service('b@2'));
    const late: string[] = [];
    const remove = parts.informer.addHandler(recordingHandler(late));
    assert.deepEqual(late, ['added a@1', 'added b@2', 'synced']);
    watch.send(modified(service('a@11')));
    await parts.clock.advance(0);
    assert.equal(late.at(-1), 'updated a@1 a@11');
    remove();
    watch.send(modified(service('a@12')));
    await parts.clock.advance(0);
    assert.equal(late.length, 4);
  }));

test('WATCH-16 a handler that throws is reported, and the other handlers are still called', () =>
  withInformer(async parts => {
    parts.informer.addHandler({
      changed: ({ type }) => {
        if (type === 'updated') throw new Error('out of luck');
      },
    });
    const after: string[] = [];
    parts.informer.addHandler(recordingHandler(after));
    const watch = await parts.startWatch(service('a@1'));
    watch.send(modified(service('a@11')), modified(service('a@12')));
    await parts.clock.advance(0);
    assert.deepEqual(after, ['added a@1', 'synced', 'updated a@1 a@11', 'updated a@11 a@12']);
    assert.deepEqual(parts.unusableObjects[0], {
      where: '/api/v1/namespaces/shop/services/a',
      kind: 'Service',
      reason: 'internal',
      object: 'Service shop/a',
      message: 'could not be processed: out of luck',
    });
    assert.equal(parts.unusableObjects.length, 2);
  }));

test('WATCH-16 a closed informer calls no handler', () =>
  withInformer(async parts => {
    const watch = await parts.startWatch(service('a@1'));
    const closed = parts.informer.close();
    watch.send(modified(service('a@11')));
    await parts.clock.advance(0);
    await closed;
    assert.deepEqual(parts.changes, []);
  }));

test('WATCH-17 a resync delivers all objects again, as they are at that time', () =>
  withInformer(
    async parts => {
      const watch = await parts.startWatch(service('a@1'), service('b@2'));
      watch.send(modified(service('b@11')));
      await parts.clock.advance(899_999);
      assert.deepEqual(parts.takeChanges(), ['updated b@2 b@11']);
      await parts.clock.advance(1);
      assert.deepEqual(parts.takeChanges(), ['updated a@1 a@1', 'updated b@11 b@11']);
      await parts.clock.advance(900_000);
      assert.deepEqual(parts.takeChanges(), ['updated a@1 a@1', 'updated b@11 b@11']);
      assert.equal(parts.api.requests.filter(({ query }) => query.sendInitialEvents).length, 1);
    },
    { resyncMs: 900_000 },
  ));

test('WATCH-17 a resync of many objects delivers each object once', () =>
  withInformer(
    async parts => {
      await parts.startWatch(...Array.from({ length: 1201 }, (_, i) => service(`s${i}@1`)));
      await parts.clock.advance(60_000);
      assert.equal(new Set(parts.changes).size, 1201);
      assert.equal(parts.takeChanges().length, 1201);
      await parts.clock.advance(60_000);
      assert.equal(parts.changes.length, 1201);
    },
    { resyncMs: 60_000 },
  ));

test('WATCH-17 a resync of many objects lets other work run between its parts', () =>
  withInformer(
    async parts => {
      await parts.startWatch(...Array.from({ length: 1201 }, (_, i) => service(`s${i}@1`)));
      const delivered: number[] = [];
      parts.informer.addHandler({
        changed: ({ type }) => {
          if (type === 'updated' && delivered.length === 0) setImmediate(() => delivered.push(parts.changes.length));
        },
      });
      await parts.clock.advance(60_000);
      assert.equal(delivered[0], 500);
    },
    { resyncMs: 60_000 },
  ));

test('WATCH-17 an informer that is started twice resyncs once a period', () =>
  withInformer(
    async parts => {
      await parts.startWatch(service('a@1'));
      parts.informer.start();
      await parts.clock.advance(60_000);
      assert.deepEqual(parts.changes, ['updated a@1 a@1']);
    },
    { resyncMs: 60_000 },
  ));

for (const [status, reason, message] of [
  [404, 'NotFound', 'the server could not find the requested resource'],
  [403, 'Forbidden', 'services is forbidden'],
] as const) {
  test(`WATCH-18 an informer of an optional resource syncs if the server answers ${status}, and reports that once`, () =>
    withInformer(
      async ({ informer, api, clock, changes, failures, unavailable, recovered }) => {
        informer.start();
        await clock.advance(0);
        for (const wait of [800, 1600]) {
          api.next().refuse(status, reason, message);
          await clock.advance(wait);
        }
        assert.deepEqual(changes, ['synced']);
        assert.equal(unavailable.length, 1);
        assert.ok(unavailable[0]?.message.startsWith(message));
        assert.deepEqual(failures, []);
        const request = api.next();
        request.answer();
        request.send(added(service('a@1')), initialEnd('2'));
        await clock.advance(0);
        assert.deepEqual(changes, ['synced', 'added a@1']);
        assert.deepEqual(recovered, ['/api/v1/services']);
      },
      { resource: { ...SERVICES, isOptional: true } },
    ));

  test(`WATCH-18 an informer does not sync if the server answers ${status} for a required resource`, () =>
    withInformer(async ({ informer, api, clock, failures, unavailable }) => {
      informer.start();
      await clock.advance(0);
      api.next().refuse(status, reason, message);
      await clock.advance(800);
      assert.equal(informer.hasSynced, false);
      assert.deepEqual([failures.length, unavailable.length], [1, 0]);
    }));
}

for (const status of [401, 429, 500]) {
  test(`WATCH-18 a ${status} says nothing about an optional resource, so the informer does not sync`, () =>
    withInformer(
      async ({ informer, api, clock, failures }) => {
        informer.start();
        await clock.advance(0);
        // After a 500 the informer asks for a plain list.
        while (api.waiting > 0) {
          api.next().refuse(status, 'Some', 'not now');
          await clock.advance(0);
        }
        assert.equal(informer.hasSynced, false);
        assert.equal(failures.length, 1);
      },
      { resource: { ...SERVICES, isOptional: true } },
    ));
}

test('WATCH-18 an optional resource that may no longer be read keeps its objects', () =>
  withInformer(
    async parts => {
      const watch = await parts.startWatch(service('a@1'));
      await parts.clock.advance(1000);
      watch.end();
      await parts.clock.advance(0);
      parts.api.next().refuse(403, 'Forbidden', 'services is forbidden');
      await parts.clock.advance(800);
      assert.deepEqual(parts.takeChanges(), []);
      assert.equal(parts.informer.size, 1);
      assert.equal(parts.unavailable.length, 1);
    },
    { resource: { ...SERVICES, isOptional: true } },
  ));

test('WATCH-19 the informer knows when data last came, bookmarks included', () =>
  withInformer(async parts => {
    const { informer, clock } = parts;
    assert.equal(informer.lastDataAt, undefined);
    const watch = await parts.startWatch();
    assert.equal(informer.lastDataAt, clock.elapsed());
    await clock.advance(60_000);
    watch.send({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '30' } } });
    await clock.advance(0);
    assert.equal(informer.lastDataAt, clock.elapsed());
    assert.ok(parts.dataCount >= 3);
  }));

test('WATCH-19 the answer to a plain list counts as data, even if it has no object', () =>
  withInformer(async parts => {
    const request = await parts.startPlainList();
    await parts.clock.advance(5000);
    request.answer();
    await parts.clock.advance(0);
    assert.equal(parts.informer.lastDataAt, 5000);
  }));
