import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  added,
  deleted,
  initialEnd,
  modified,
  SERVICES,
  service,
  teller,
  withInformer,
} from '../../../test/support/informer-case.ts';
import { enveloped, watchFrame } from '../../../test/support/protobuf-writer.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf;stream=watch';
const BAD_PORT = { ports: [{ port: 80 }, { port: 99_999 }] };

test('WATCH-2 a watch in protobuf and one in JSON tell the same', async () => {
  const tell = async (contentType: string, file: string) => {
    let found: unknown[] = [];
    await withInformer(async ({ informer, api, clock, problems }) => {
      informer.start();
      await clock.advance(0);
      const request = api.next();
      request.answer(200, contentType);
      request.send(readFileSync(`src/api/protobuf/recorded/${file}`));
      await clock.advance(0);
      assert.equal(informer.hasSynced, true);
      assert.deepEqual(problems, []);
      found = [...informer.objects()];
    });
    return found;
  };
  const protobuf = await tell(PROTOBUF, 'services.watch.pb');
  assert.equal(protobuf.length, 7);
  assert.deepEqual(protobuf, await tell('application/json', 'services.watch.jsonl'));
});

test('WATCH-2 a list in protobuf is read, too', () =>
  withInformer(async ({ informer, api, clock, told }) => {
    informer.start();
    await clock.advance(0);
    api.next().refuse(400, 'BadRequest', 'what is sendInitialEvents');
    await clock.advance(0);
    const request = api.next();
    request.answer(200, 'application/vnd.kubernetes.protobuf');
    request.send(readFileSync('src/api/protobuf/recorded/services.pb'));
    request.end();
    await clock.advance(0);
    assert.equal(informer.size, 7);
    assert.equal(told.at(-1), 'synced');
    assert.match(api.next().query.resourceVersion ?? '', /^\d+$/);
  }));

test('WATCH-14 a fresh list tells only what differs', () =>
  withInformer(async parts => {
    const { api, clock, informer } = parts;
    const watch = await parts.follow(service('same@1'), service('changed@2'), service('gone@3'));
    watch.send({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
    await clock.advance(800);
    const fresh = api.next();
    fresh.answer();
    fresh.send(added(service('changed@12')), added(service('same@1')), added(service('new@13')));
    await clock.advance(0);
    assert.deepEqual(parts.takeTold(), ['updated changed@2 changed@12', 'added new@13']);
    assert.equal(informer.size, 4, 'nothing is gone before the list is complete');
    fresh.send(initialEnd('20'));
    await clock.advance(0);
    assert.deepEqual(parts.takeTold(), ['removed gone@3']);
  }));

test('WATCH-14 what is deleted while a fresh list streams in is gone', () =>
  withInformer(async parts => {
    const { informer, api, clock, told } = parts;
    informer.start();
    await clock.advance(0);
    const request = api.next();
    request.answer();
    request.send(added(service('a@1')), deleted(service('a@2')), initialEnd('3'));
    await clock.advance(0);
    assert.deepEqual(told, ['added a@1', 'removed a@1', 'synced']);
  }));

test('WATCH-14 changes of unknown objects and deletions of them do no harm', () =>
  withInformer(async parts => {
    const watch = await parts.follow(service('a@1'));
    watch.send(modified(service('b@11')), deleted(service('c@12')), added(service('a@13')));
    await parts.clock.advance(0);
    assert.deepEqual(parts.told, ['added b@11', 'updated a@1 a@13']);
  }));

test('WATCH-15 an object that cannot be used is told by name and field, and its last good version stays', () =>
  withInformer(async parts => {
    const { clock, unusable, usable, informer } = parts;
    const watch = await parts.follow(service('a@1'), service('b@2'));
    const bad = service('a@11', BAD_PORT);
    watch.send(modified(bad), modified(bad), modified(service('b@12')));
    await clock.advance(0);
    assert.deepEqual(parts.takeTold(), ['updated b@2 b@12']);
    assert.deepEqual(unusable, [
      {
        where: '/api/v1/namespaces/shop/services/a',
        object: 'Service shop/a',
        field: 'spec.ports[1].port',
        message: 'is the number 99999, but must be a whole number from 1 to 65535: correct it',
      },
    ]);
    assert.equal(informer.get('shop/a')?.metadata.resourceVersion, '1');
    watch.send(modified(service('a@13')));
    await clock.advance(0);
    assert.deepEqual(parts.takeTold(), ['updated a@1 a@13']);
    assert.deepEqual(usable, ['/api/v1/namespaces/shop/services/a']);
  }));

test('WATCH-15 an object that cannot be used does not vanish by a fresh list, and is told once', () =>
  withInformer(async parts => {
    const { api, clock, unusable, usable } = parts;
    const watch = await parts.follow(service('a@1'));
    watch.send(modified(service('a@11', BAD_PORT)), modified(service('new@12', BAD_PORT)));
    watch.send({ type: 'ERROR', object: { kind: 'Status', code: 410 } });
    await clock.advance(800);
    const fresh = api.next();
    fresh.answer();
    fresh.send(added(service('a@11', BAD_PORT)), initialEnd('20'));
    await clock.advance(0);
    assert.deepEqual(parts.told, []);
    assert.equal(unusable.length, 2);
    assert.deepEqual(usable, ['/api/v1/namespaces/shop/services/new'], 'one that is gone is no problem');
    fresh.send(deleted(service('a@21', BAD_PORT)));
    await clock.advance(0);
    assert.deepEqual(parts.told, ['removed a@1']);
    assert.equal(usable.at(-1), '/api/v1/namespaces/shop/services/a');
  }));

test('WATCH-15 bytes that are no object do not stop the others', () =>
  withInformer(async ({ informer, api, clock, unusable, told }) => {
    informer.start();
    await clock.advance(0);
    const request = api.next();
    request.answer(200, PROTOBUF);
    request.send(watchFrame('ADDED', enveloped('v1', 'Service', [0x0a, 0x70, 1])));
    request.send(readFileSync('src/api/protobuf/recorded/services.watch.pb'));
    await clock.advance(0);
    assert.deepEqual(unusable, [
      {
        where: '/api/v1/services',
        object: 'Service',
        field: undefined,
        message: 'cannot be read: its bytes are no Service',
      },
    ]);
    assert.equal(told.length, 8);
  }));

test('WATCH-15 an object without a name, or of another kind, is told once, and not as a broken watch', () =>
  withInformer(async parts => {
    const watch = await parts.follow();
    const nameless = service('');
    const other = { ...service('a@2'), kind: 'Pod' };
    watch.send(added(nameless), added(other), modified(nameless), modified(other));
    watch.send({ type: 'ERROR', object: { kind: 'Status', code: 410 } });
    await parts.clock.advance(800);
    const fresh = parts.api.next();
    fresh.answer();
    fresh.send(added(nameless), initialEnd('20'));
    await parts.clock.advance(0);
    const where = '/api/v1/services';
    assert.deepEqual(parts.unusable, [
      { where, object: 'Service', field: 'metadata.name', message: 'is missing: give the object a name' },
      { where, object: 'Service', field: 'kind', message: 'is Pod, but Service was asked for' },
    ]);
    assert.deepEqual(parts.problems, []);
  }));

test('WATCH-15 a server that invents mistakes of nameless objects is not listened to for ever', () =>
  withInformer(async parts => {
    const watch = await parts.follow();
    const ports = (port: number) => ({ ports: [{ port }] });
    watch.send(...Array.from({ length: 200 }, (_, i) => added(service('', ports(70_000 + i)))));
    await parts.clock.advance(0);
    assert.equal(new Set(parts.unusable.map(({ message }) => message)).size, 101);
  }));

test('WATCH-16 a handler that comes late is told what is there, then that it is all', () =>
  withInformer(async parts => {
    const watch = await parts.follow(service('a@1'), service('b@2'));
    const late: string[] = [];
    const remove = parts.informer.addHandler(teller(late));
    assert.deepEqual(late, ['added a@1', 'added b@2', 'synced']);
    watch.send(modified(service('a@11')));
    await parts.clock.advance(0);
    assert.equal(late.at(-1), 'updated a@1 a@11');
    remove();
    watch.send(modified(service('a@12')));
    await parts.clock.advance(0);
    assert.equal(late.length, 4);
  }));

test('WATCH-16 a handler that throws is told of, and stops nobody', () =>
  withInformer(async parts => {
    parts.informer.addHandler({
      changed: ({ type }) => {
        if (type === 'updated') throw new Error('out of luck');
      },
    });
    const after: string[] = [];
    parts.informer.addHandler(teller(after));
    const watch = await parts.follow(service('a@1'));
    watch.send(modified(service('a@11')), modified(service('a@12')));
    await parts.clock.advance(0);
    assert.deepEqual(after, ['added a@1', 'synced', 'updated a@1 a@11', 'updated a@11 a@12']);
    assert.deepEqual(parts.unusable[0], {
      where: '/api/v1/namespaces/shop/services/a',
      object: 'Service shop/a',
      message: 'could not be taken in: out of luck',
    });
    assert.equal(parts.unusable.length, 2);
  }));

test('WATCH-16 after closing no handler is called', () =>
  withInformer(async parts => {
    const watch = await parts.follow(service('a@1'));
    const closed = parts.informer.close();
    watch.send(modified(service('a@11')));
    await parts.clock.advance(0);
    await closed;
    assert.deepEqual(parts.told, []);
  }));

test('WATCH-17 all objects are told again now and then, as they are then', () =>
  withInformer(
    async parts => {
      const watch = await parts.follow(service('a@1'), service('b@2'));
      watch.send(modified(service('b@11')));
      await parts.clock.advance(899_999);
      assert.deepEqual(parts.takeTold(), ['updated b@2 b@11']);
      await parts.clock.advance(1);
      assert.deepEqual(parts.takeTold(), ['updated a@1 a@1', 'updated b@11 b@11']);
      await parts.clock.advance(900_000);
      assert.deepEqual(parts.takeTold(), ['updated a@1 a@1', 'updated b@11 b@11']);
      assert.equal(parts.api.requests.filter(({ query }) => query.sendInitialEvents).length, 1);
    },
    { resyncMs: 900_000 },
  ));

test('WATCH-17 many objects are told again in portions, each once', () =>
  withInformer(
    async parts => {
      await parts.follow(...Array.from({ length: 1201 }, (_, i) => service(`s${i}@1`)));
      await parts.clock.advance(60_000);
      assert.equal(new Set(parts.told).size, 1201);
      assert.equal(parts.takeTold().length, 1201);
      await parts.clock.advance(60_000);
      assert.equal(parts.told.length, 1201);
    },
    { resyncMs: 60_000 },
  ));

test('WATCH-18 a server without an optional resource has none of it, which is told once, until it has', () =>
  withInformer(
    async ({ informer, api, clock, told, problems, recovered }) => {
      informer.start();
      await clock.advance(0);
      for (const wait of [800, 1600]) {
        api.next().refuse(404, 'NotFound', 'the server could not find the requested resource');
        await clock.advance(wait);
      }
      assert.deepEqual(told, ['synced']);
      assert.equal(problems.length, 1);
      const request = api.next();
      request.answer();
      request.send(added(service('a@1')), initialEnd('2'));
      await clock.advance(0);
      assert.deepEqual(told, ['synced', 'added a@1']);
      assert.deepEqual(recovered, ['/api/v1/services']);
    },
    { resource: { ...SERVICES, isOptional: true } },
  ));

test('WATCH-18 without a resource that must be there, nothing is complete', () =>
  withInformer(async ({ informer, api, clock }) => {
    informer.start();
    await clock.advance(0);
    api.next().refuse(404, 'NotFound', 'not found');
    await clock.advance(800);
    assert.equal(informer.hasSynced, false);
  }));

test('WATCH-19 when anything came last is known, bookmarks included', () =>
  withInformer(async parts => {
    const { informer, clock } = parts;
    assert.equal(informer.lastHeard, undefined);
    const watch = await parts.follow();
    assert.equal(informer.lastHeard, clock.elapsed());
    await clock.advance(60_000);
    watch.send({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '30' } } });
    await clock.advance(0);
    assert.equal(informer.lastHeard, clock.elapsed());
    assert.ok(parts.heard >= 3);
  }));
