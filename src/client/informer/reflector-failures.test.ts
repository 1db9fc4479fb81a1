import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bookmark, initialEnd, service, withInformer } from '../../../test/support/informer-case.ts';

test('WATCH-11 the reflector aborts a watch that the server does not end in time', () =>
  withInformer(async parts => {
    const { api, clock, failures } = parts;
    const watch = await parts.startWatch();
    await clock.advance(170_000);
    watch.send(bookmark('20'));
    await clock.advance(159_999);
    assert.equal(watch.isAborted, false);
    await clock.advance(1);
    assert.equal(watch.isAborted, true);
    await clock.advance(800);
    assert.equal(api.next().query.resourceVersion, '20');
    assert.match(failures[0]?.message ?? '', /did not end its answer within 330 s/);
  }));

test('WATCH-11 the reflector aborts requests that the server never answers', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    const request = await parts.start();
    await clock.advance(29_999);
    assert.match(parts.stalls[0]?.message ?? '', /waiting for the answer to a streaming list/);
    assert.equal(request.isAborted, false);
    await clock.advance(1);
    assert.equal(request.isAborted, true);
    const list = api.next();
    assert.equal(list.query.watch, undefined);
    await clock.advance(300_000);
    assert.equal(list.isAborted, true);
    assert.match(parts.failures[0]?.message ?? '', /did not end its answer within 300 s/);
    await clock.advance(800);
    assert.equal(api.next().query.sendInitialEvents, 'true');
  }));

test('WATCH-11 after a watch with bookmarks only, the next watch goes on from the last bookmark', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    const watch = await parts.startWatch();
    watch.end();
    await clock.advance(0);
    const quiet = api.next();
    quiet.answer();
    await clock.advance(60_000);
    quiet.send(bookmark('30'));
    await clock.advance(120_000);
    quiet.send(bookmark('40'));
    await clock.advance(120_000);
    quiet.end();
    await clock.advance(0);
    const next = api.next();
    assert.deepEqual([next.query.sendInitialEvents, next.query.resourceVersion], [undefined, '40']);
  }));

test('WATCH-12 a refusal is reported once, in the server’s words and with what to do, and retried', () =>
  withInformer(async parts => {
    const { api, clock, failures, recovered, informer } = parts;
    informer.start();
    await clock.advance(0);
    for (const wait of [800, 1600]) {
      api.next().refuse(403, 'Forbidden', 'services is forbidden: User "x" cannot watch resource "services"');
      await clock.advance(wait);
    }
    assert.deepEqual(failures, [
      {
        where: '/api/v1/services',
        message:
          'services is forbidden: User "x" cannot watch resource "services": ' +
          'bind this user to the ClusterRole system:node-proxier',
      },
    ]);
    api.next().refuse(401, 'Unauthorized', 'Unauthorized');
    await clock.advance(3200);
    assert.match(failures[1]?.message ?? '', /does not accept the credentials/);
    const request = api.next();
    request.answer();
    await clock.advance(0);
    assert.deepEqual(recovered, [], 'the watch has not recovered before the list is complete');
    request.send(initialEnd('3'));
    await clock.advance(0);
    assert.deepEqual(recovered, ['/api/v1/services']);
  }));

for (const [what, chunk] of [
  ['text that is not JSON', 'hello\n'],
  ['JSON that is not an event', '[1]\n'],
  ['an unknown type of event', '{"type":"MOVED","object":{}}\n'],
  ['a bookmark without a version', '{"type":"BOOKMARK","object":{"metadata":{}}}\n'],
  ['an error that is not a Status', '{"type":"ERROR","object":7}\n'],
] as const) {
  test(`WATCH-12 a watch that sends ${what} is reported, and a fresh list follows`, () =>
    withInformer(async parts => {
      const { api, clock, failures } = parts;
      const watch = await parts.startWatch(service('a@1'));
      watch.send(chunk);
      await clock.advance(800);
      assert.equal(api.next().query.sendInitialEvents, 'true');
      assert.match(failures[0]?.message ?? '', /something that is not an event/);
      assert.deepEqual(parts.changes, [], 'the objects stay');
    }));
}

test('WATCH-12 an answer in another format is reported with its content type', () =>
  withInformer(async ({ informer, api, clock, failures }) => {
    informer.start();
    await clock.advance(0);
    api.next().answer(200, 'application/yaml');
    await clock.advance(0);
    assert.match(failures[0]?.message ?? '', /answered as application\/yaml, .* correct acceptContentTypes/);
  }));

for (const [what, contentType, found] of [
  ['a page', 'text/html; charset=utf-8', 'text/html; charset=utf-8'],
  ['an answer without a content type', '', 'without a content type'],
] as const) {
  test(`WATCH-12 ${what} instead of objects is reported with its beginning`, () =>
    withInformer(async ({ informer, api, clock, failures }) => {
      informer.start();
      await clock.advance(0);
      const request = api.next();
      request.answer(200, contentType);
      request.send(`<!doctype html>\n<title>Sign in</title>\x1b[2J${'x'.repeat(1000)}`);
      await clock.advance(0);
      const page = `<!doctype html> <title>Sign in</title> [2J${'x'.repeat(38)}…`;
      assert.equal(
        failures[0]?.message,
        `the answer is not from an API server (${found}: ${page}): ` +
          'it is probably from an HTTP proxy or a login page, check the server’s address and the HTTP proxies',
      );
      await clock.advance(800);
      assert.equal(api.next().query.sendInitialEvents, 'true');
    }));
}

test('WATCH-12 the error of a 403 that is not from the API gives no hint about roles', () =>
  withInformer(async ({ informer, api, clock, failures }) => {
    informer.start();
    await clock.advance(0);
    api.next().reply('<html>no way out', 403);
    await clock.advance(0);
    assert.match(failures[0]?.message ?? '', /the server answered with status 403: <html>no way out$/);
  }));

test('WATCH-2 the reflector aborts a list in JSON that never ends', () =>
  withInformer(async parts => {
    const request = await parts.startPlainList();
    request.answer();
    const piece = Buffer.alloc(1 << 20, ' ');
    request.send(...Array<Uint8Array>(257).fill(piece));
    await parts.clock.advance(0);
    assert.match(parts.failures[0]?.message ?? '', /the list is longer than 256 MiB/);
  }));

test('WATCH-2 the reflector aborts a watch in JSON whose line never ends', () =>
  withInformer(async parts => {
    const watch = await parts.startWatch(service('a@1'));
    const piece = Buffer.alloc(1 << 20, ' ');
    watch.send(...Array<Uint8Array>(64).fill(piece));
    await parts.clock.advance(0);
    assert.equal(parts.failures.length, 0);
    watch.send('x');
    await parts.clock.advance(0);
    assert.match(parts.failures[0]?.message ?? '', /the watch sent an event that is longer than 64 MiB/);
    await parts.clock.advance(800);
    assert.equal(parts.api.next().query.resourceVersion, '10');
  }));

const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
for (const type of ['ADDED', 'DELETED', 'BOOKMARK', 'ERROR']) {
  test(`WATCH-2 the watch refuses an event of type ${type} that is nested without end`, () =>
    withInformer(async parts => {
      const watch = await parts.startWatch(service('a@1'));
      watch.send(`{"type":"${type}","object":{"kind":"Status","details":${DEEP}}}\n`);
      await parts.clock.advance(0);
      assert.deepEqual(parts.failures, [
        { where: '/api/v1/services', message: 'the watch sent an event that is nested deeper than 256 levels' },
      ]);
    }));
}

test('WATCH-2 a list that is nested without end is refused', () =>
  withInformer(async parts => {
    (await parts.startPlainList()).reply(`{"kind":"ServiceList","items":[{"spec":${DEEP}}]}`);
    await parts.clock.advance(0);
    assert.match(parts.failures[0]?.message ?? '', /the list is nested deeper than 256 levels/);
  }));

test('WATCH-2 an error answer that is nested without end is reported by its status', () =>
  withInformer(async parts => {
    (await parts.startPlainList()).reply(`{"kind":"Status","message":"no","details":${DEEP}}`, 500);
    await parts.clock.advance(0);
    assert.match(parts.failures[0]?.message ?? '', /status 500/);
  }));

test('WATCH-12 an answer that is not a list of the resource is reported', () =>
  withInformer(async parts => {
    (await parts.startPlainList()).reply({ kind: 'PodList', items: [] });
    await parts.clock.advance(0);
    assert.match(parts.failures[0]?.message ?? '', /the answer to the list request is not a list/);
  }));

test('WATCH-13 closing ends the current request or wait', async () => {
  await withInformer(async parts => {
    const watch = await parts.startWatch();
    await parts.informer.close();
    assert.equal(watch.isAborted, true);
    assert.equal(parts.clock.pending, 0);
  });
  await withInformer(async ({ informer, api, clock, failures }) => {
    informer.start();
    await clock.advance(0);
    api.next().fail('unreachable', 'no route');
    await clock.advance(0);
    await informer.close();
    assert.equal(clock.pending, 0);
    assert.equal(failures.length, 1);
  });
});
