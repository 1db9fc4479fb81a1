import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bookmark, initialEnd, service, untilList, withInformer } from '../../../test/support/informer-case.ts';

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
    await clock.advance(29_999);
    assert.match(parts.waits[0]?.message ?? '', /waiting for the answer to a streaming list/);
    assert.equal(request.isAborted, false);
    await clock.advance(1);
    assert.equal(request.isAborted, true);
    const list = api.next();
    assert.equal(list.query.watch, undefined);
    await clock.advance(300_000);
    assert.equal(list.isAborted, true);
    assert.match(parts.problems[0]?.message ?? '', /did not end its answer within 300 s/);
    await clock.advance(800);
    assert.equal(api.next().query.sendInitialEvents, 'true');
  }));

test('WATCH-11 a watch that brought not even a bookmark in all its time is followed by a list that is not older', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    const watch = await parts.follow(service('a@9'));
    watch.end();
    await clock.advance(0);
    const mute = api.next();
    mute.answer();
    await clock.advance(300_000);
    mute.end();
    await clock.advance(0);
    const fresh = api.next();
    assert.deepEqual([fresh.query.sendInitialEvents, fresh.query.resourceVersion], ['true', '10']);
    fresh.refuse(504, 'Timeout', 'Timeout: Too large resource version: 10, current: 5');
    await clock.advance(0);
    assert.equal(api.next().query.resourceVersion, undefined);
  }));

test('WATCH-11 a watch that brought bookmarks only goes on', () =>
  withInformer(async parts => {
    const { api, clock } = parts;
    const watch = await parts.follow();
    watch.end();
    await clock.advance(0);
    const quiet = api.next();
    quiet.answer();
    await clock.advance(60_000);
    quiet.send(bookmark('40'));
    await clock.advance(240_000);
    quiet.end();
    await clock.advance(0);
    const next = api.next();
    assert.deepEqual([next.query.sendInitialEvents, next.query.resourceVersion], [undefined, '40']);
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

for (const [what, contentType, found] of [
  ['a page', 'text/html; charset=utf-8', 'text/html; charset=utf-8'],
  ['something without a content type', '', 'without a content type'],
] as const) {
  test(`WATCH-12 ${what} instead of objects is told as what it is, with its beginning`, () =>
    withInformer(async ({ informer, api, clock, problems }) => {
      informer.start();
      await clock.advance(0);
      const request = api.next();
      request.answer(200, contentType);
      request.send(`<!doctype html>\n<title>Sign in</title>\x1b[2J${'x'.repeat(1000)}`);
      await clock.advance(0);
      const page = `<!doctype html> <title>Sign in</title> [2J${'x'.repeat(38)}…`;
      assert.equal(
        problems[0]?.message,
        `cannot be followed, and is tried again: something other than an API server answered (${found}: ${page}): ` +
          'a proxy or a login page is likely, check the server’s address and its proxies',
      );
      await clock.advance(800);
      assert.equal(api.next().query.sendInitialEvents, 'true');
    }));
}

test('WATCH-12 a refusal that is not the API’s own gives no hint at rights', () =>
  withInformer(async ({ informer, api, clock, problems }) => {
    informer.start();
    await clock.advance(0);
    api.next().reply('<html>no way out', 403);
    await clock.advance(0);
    assert.match(problems[0]?.message ?? '', /the server answered with status 403: <html>no way out$/);
  }));

test('WATCH-2 a list in JSON that never ends is left', () =>
  withInformer(async parts => {
    const request = await untilList(parts);
    request.answer();
    const piece = Buffer.alloc(1 << 20, ' ');
    request.send(...Array<Uint8Array>(257).fill(piece));
    await parts.clock.advance(0);
    assert.match(parts.problems[0]?.message ?? '', /the list is longer than 256 MiB/);
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
