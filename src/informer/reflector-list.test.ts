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
} from '../../test/support/informer-case.ts';

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
