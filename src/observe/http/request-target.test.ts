import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { httpCall } from '../../../test/support/http-call.ts';
import type { Ip } from '../../net/index.ts';
import { HttpServer, redirectToCleanPath, textAnswer } from './index.ts';
import { parseTarget } from './request-target.ts';

describe('request target', () => {
  const cases: readonly [text: string, path: string, rawQuery?: string][] = [
    ['/healthz', '/healthz'],
    ['/healthz/?a=b?c', '/healthz/', 'a=b?c'],
    ['/healthz?', '/healthz', ''],
    ['/%68ealthz', '/healthz'],
    ['/a+b%2fc', '/a+b/c'],
    ['/%ff', '/%ff'],
    ['http://node:10256/livez?x', '/livez', 'x'],
    ['http://node', ''],
    ['http://node?x', '', 'x'],
    ['*', '*'],
  ];
  for (const [text, path, rawQuery] of cases) {
    test(`HEALTH-10 the target ${text} has the path ${path}`, () => {
      const target = parseTarget(text);
      assert.deepEqual([target?.path, target?.rawQuery], [path, rawQuery]);
    });
  }

  test('HEALTH-10 a malformed escape is a bad request', async () => {
    for (const text of ['/a%zz', '/a%2', '/%']) assert.equal(parseTarget(text), undefined);
    const handle = () => textAnswer(200, 'ok');
    const server = await HttpServer.open({ ip: '127.0.0.1' as Ip, port: 0, handle });
    try {
      const { status, body } = await httpCall({ port: server.port, path: '/a%zz' });
      assert.deepEqual([status, body], [400, '400 Bad Request']);
    } finally {
      server.close();
    }
  });

  test('HEALTH-10 a path that is not clean is redirected to the clean one', () => {
    const location = (text: string) => {
      const target = parseTarget(text);
      assert.ok(target);
      return redirectToCleanPath({ method: 'GET', ...target })?.headers.Location;
    };
    for (const [text, to] of [
      ['//healthz', '/healthz'],
      ['/x/../livez', '/livez'],
      ['/../healthz', '/healthz'],
      ['/healthz//', '/healthz/'],
      ['/healthz/.', '/healthz'],
      ['/healthz/..', '/'],
      ['/a/./b?x=1', '/a/b?x=1'],
      ['http://node', '/'],
      ['/', undefined],
      ['*', undefined],
      ['/healthz', undefined],
      ['/healthz/', undefined],
      ['/%2e%2e/healthz', undefined],
    ] as const) {
      assert.equal(location(text), to, text);
    }
  });

  test('HEALTH-10 a redirect has an HTML page for GET and HEAD only, and escapes the location in it', () => {
    const to = (method: string) => redirectToCleanPath({ method, rawPath: '//x', rawQuery: 'a=<b>' });
    assert.deepEqual(to('GET'), {
      status: 307,
      headers: { 'Content-Type': 'text/html; charset=utf-8', Location: '/x?a=<b>' },
      body: '<a href="/x?a=&lt;b&gt;">Temporary Redirect</a>.\n\n',
    });
    assert.deepEqual(to('HEAD'), to('GET'));
    assert.deepEqual(to('POST'), { status: 307, headers: { Location: '/x?a=<b>' }, body: '' });
  });
});
