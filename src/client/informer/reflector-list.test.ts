import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  added,
  bookmark,
  deleted,
  initialEnd,
  list,
  modified,
  service,
  untilList,
  withInformer,
} from '../../../test/support/informer-case.ts';

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
    assert.deepEqual(told.slice(2), ['synced', 'updated a@1 a@8', 'removed b@2']);
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

test('WATCH-6 an end of the first list that is not marked is told after 10 s, and after 30 s pages are asked for', () =>
  withInformer(async ({ informer, api, clock, waits, problems, recovered, told }) => {
    informer.start();
    await clock.advance(0);
    const request = api.next();
    request.answer();
    request.send(added(service('a@1')));
    await clock.advance(9_999);
    assert.deepEqual(waits, []);
    await clock.advance(1);
    const message =
      'nothing has come for 10 s: waiting for the bookmark that ends the streaming list (after 30 s a plain list is asked for)';
    assert.deepEqual(waits, [{ where: '/api/v1/services', message }]);
    await clock.advance(19_999);
    assert.equal(request.isAborted, false);
    await clock.advance(1);
    assert.equal(request.isAborted, true);
    assert.equal(waits.length, 1, 'it is told once');
    const pages = api.next();
    assert.deepEqual(pages.query, { resourceVersion: '0', limit: '500' });
    pages.reply(list('7', [service('a@1')]));
    await clock.advance(0);
    assert.deepEqual(told, ['added a@1', 'synced']);
    assert.deepEqual(recovered, ['/api/v1/services']);
    assert.deepEqual(problems, []);
  }));

test('WATCH-6 a server that ends its first list without the mark is asked for pages at once', () =>
  withInformer(async ({ informer, api, clock, waits }) => {
    informer.start();
    await clock.advance(0);
    const request = api.next();
    request.answer();
    request.end();
    await clock.advance(0);
    assert.deepEqual(api.next().query, { resourceVersion: '0', limit: '500' });
    assert.deepEqual(waits, []);
  }));

test('WATCH-6 a first list that goes on bringing objects may last', () =>
  withInformer(async ({ informer, api, clock, waits, told }) => {
    informer.start();
    await clock.advance(0);
    const request = api.next();
    request.answer();
    for (let i = 0; i < 30; i++) {
      await clock.advance(9_000);
      request.send(added(service(`s${i}@${i}`)));
      await clock.advance(0);
    }
    request.send(initialEnd('40'));
    await clock.advance(0);
    assert.equal(told.at(-1), 'synced');
    assert.deepEqual(waits, []);
    await clock.advance(50_000);
    assert.equal(request.isAborted, false, 'a watch may be silent');
    assert.deepEqual(waits, []);
  }));

test('WATCH-6 a list that comes slowly is told of only while nothing comes', () =>
  withInformer(async parts => {
    const { clock, waits, told } = parts;
    const request = await untilList(parts);
    request.answer();
    const text = JSON.stringify(list('7', [service('a@1')]));
    for (const piece of [text.slice(0, 10), text.slice(10, 20), text.slice(20, 30)]) {
      await clock.advance(9_000);
      request.send(piece);
      await clock.advance(0);
    }
    assert.deepEqual(waits, []);
    await clock.advance(60_000);
    assert.deepEqual(
      waits.map(({ message }) => message),
      ['nothing has come for 10 s: waiting for the list of all objects'],
    );
    request.send(text.slice(30));
    request.end();
    await clock.advance(0);
    assert.equal(told.at(-1), 'synced');
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
