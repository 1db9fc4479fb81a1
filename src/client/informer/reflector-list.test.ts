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
  withInformer,
} from '../../../test/support/informer-case.ts';

test('WATCH-4 the first request is a streaming list', () =>
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

test('WATCH-4 handlers receive objects as they come, and synced at the marked bookmark', () =>
  withInformer(async parts => {
    const { informer, api, changes, clock } = parts;
    const request = await parts.start();
    request.answer();
    request.send(added(service('a@1')), bookmark('5'), added(service('b@2')));
    await clock.advance(0);
    assert.deepEqual(changes, ['added a@1', 'added b@2']);
    assert.equal(informer.hasSynced, false);
    request.send(initialEnd('7'), modified(service('a@8')), deleted(service('b@9')));
    await clock.advance(0);
    assert.deepEqual(changes.slice(2), ['synced', 'updated a@1 a@8', 'removed b@2']);
    assert.equal(api.requests.length, 1, 'the stream goes on as the watch');
  }));

test('WATCH-6 after a refused streaming list come pages from the server’s cache, then a watch', () =>
  withInformer(async parts => {
    const { api, clock, changes } = parts;
    const first = await parts.startPlainList();
    assert.deepEqual(first.query, { resourceVersion: '0', limit: '500' });
    first.reply(list('7', [service('a@1')], 'more'));
    await clock.advance(0);
    const second = api.next();
    assert.deepEqual(second.query, { limit: '500', continue: 'more' });
    assert.deepEqual(changes, ['added a@1']);
    second.reply(list('7', [service('b@2')]));
    await clock.advance(0);
    assert.deepEqual(changes, ['added a@1', 'added b@2', 'synced']);
    const watch = api.next();
    assert.deepEqual(watch.query, {
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '300',
      resourceVersion: '7',
    });
    assert.deepEqual(parts.failures, [], 'a server that cannot stream lists is not a problem');
  }));

test('WATCH-6 a streaming list without an end is reported after 10 s and replaced by pages after 30 s', () =>
  withInformer(async parts => {
    const { api, clock, stalls, failures, recovered, changes } = parts;
    const request = await parts.start();
    request.answer();
    request.send(added(service('a@1')));
    await clock.advance(9_999);
    assert.deepEqual(stalls, []);
    await clock.advance(1);
    const message =
      'the API server has sent nothing for 10 s: ' +
      'waiting for the bookmark that ends the streaming list (after 30 s the proxy asks for a plain list)';
    assert.deepEqual(stalls, [{ where: '/api/v1/services', message }]);
    await clock.advance(19_999);
    assert.equal(request.isAborted, false);
    await clock.advance(1);
    assert.equal(request.isAborted, true);
    assert.equal(stalls.length, 1, 'it is reported once');
    const pages = api.next();
    assert.deepEqual(pages.query, { resourceVersion: '0', limit: '500' });
    pages.reply(list('7', [service('a@1')]));
    await clock.advance(0);
    assert.deepEqual(changes, ['added a@1', 'synced']);
    assert.deepEqual(recovered, ['/api/v1/services']);
    assert.deepEqual(failures, []);
  }));

test('WATCH-6 a server that ends a streaming list without the mark is asked for pages at once', () =>
  withInformer(async parts => {
    const { api, clock, stalls } = parts;
    const request = await parts.start();
    request.answer();
    request.end();
    await clock.advance(0);
    assert.deepEqual(api.next().query, { resourceVersion: '0', limit: '500' });
    assert.deepEqual(stalls, []);
  }));

test('WATCH-6 a streaming list may take long as long as objects come', () =>
  withInformer(async parts => {
    const { clock, stalls, changes } = parts;
    const request = await parts.start();
    request.answer();
    for (let i = 0; i < 30; i++) {
      await clock.advance(9_000);
      request.send(added(service(`s${i}@${i}`)));
      await clock.advance(0);
    }
    request.send(initialEnd('40'));
    await clock.advance(0);
    assert.equal(changes.at(-1), 'synced');
    assert.deepEqual(stalls, []);
    await clock.advance(50_000);
    assert.equal(request.isAborted, false, 'a watch may be silent');
    assert.deepEqual(stalls, []);
  }));

test('WATCH-6 a slow list is reported only while nothing comes', () =>
  withInformer(async parts => {
    const { clock, stalls, changes } = parts;
    const request = await parts.startPlainList();
    request.answer();
    const text = JSON.stringify(list('7', [service('a@1')]));
    for (const piece of [text.slice(0, 10), text.slice(10, 20), text.slice(20, 30)]) {
      await clock.advance(9_000);
      request.send(piece);
      await clock.advance(0);
    }
    assert.deepEqual(stalls, []);
    await clock.advance(60_000);
    assert.deepEqual(
      stalls.map(({ message }) => message),
      ['the API server has sent nothing for 10 s: waiting for the list of all objects'],
    );
    request.send(text.slice(30));
    request.end();
    await clock.advance(0);
    assert.equal(changes.at(-1), 'synced');
  }));

test('WATCH-6 silence counts from the last object, not from the last check', () =>
  withInformer(async parts => {
    const { clock, stalls } = parts;
    const request = await parts.start();
    request.answer();
    await clock.advance(6_000);
    request.send(added(service('a@1')));
    await clock.advance(9_999);
    assert.deepEqual(stalls, []);
    await clock.advance(1);
    assert.equal(stalls.length, 1);
    await clock.advance(19_999);
    assert.equal(request.isAborted, false);
    await clock.advance(1);
    assert.equal(request.isAborted, true);
  }));

test('WATCH-6 a busy server is asked for a streaming list again, and the wait for it is not a stall', () =>
  withInformer(async parts => {
    const { api, clock, stalls } = parts;
    (await parts.start()).refuse(429, 'TooManyRequests', 'come back later', { 'retry-after': '60' });
    await clock.advance(59_999);
    assert.equal(api.waiting, 0);
    assert.deepEqual(stalls, []);
    await clock.advance(1);
    assert.equal(api.next().query.sendInitialEvents, 'true');
  }));

test('WATCH-6 after pages that expired comes one full list of the newest objects', () =>
  withInformer(async parts => {
    const { api, clock, informer } = parts;
    (await parts.startPlainList()).reply(list('7', [service('a@1')], 'more'));
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

test('WATCH-6 a list that breaks off is not complete, and the reflector starts a new one', () =>
  withInformer(async parts => {
    const { api, clock, informer, changes } = parts;
    const first = await parts.startPlainList();
    first.answer();
    first.send('{"kind":"ServiceList","items":[');
    first.fail('closed', 'the connection broke off');
    await clock.advance(800);
    assert.equal(informer.hasSynced, false);
    assert.equal(api.next().query.sendInitialEvents, 'true');
    assert.deepEqual(changes, []);
  }));
