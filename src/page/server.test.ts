import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { type PageCall, PageUnderTest, type PageUnderTestOptions } from '../../test/support/page-server.ts';
import { explainRoute } from '../inspect/index.ts';
import type { Ip } from '../net/index.ts';
import { PageServer } from './index.ts';

const PROTECTION = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

describe('the server of the page', () => {
  const pages: PageUnderTest[] = [];
  const open = async (options: PageUnderTestOptions = {}) => {
    const page = await new PageUnderTest(options).open();
    pages.push(page);
    return page;
  };

  afterEach(() => {
    for (const page of pages.splice(0)) page.close();
  });

  test('PAGE-1 it says its URL, and uses another port only if it may', async () => {
    const page = await open();
    assert.deepEqual(page.urls, [`http://127.0.0.1:${page.port}/`]);
    const second = async (mayUseOtherPort: boolean) => {
      const found: string[] = [];
      const server = new PageServer({
        address: { ip: '127.0.0.1' as Ip, port: page.port, mayUseOtherPort, files: undefined },
        hostNames: [],
        handle: () => ({ status: 200, headers: {}, body: '' }),
        hardFail: true,
        onListen: url => found.push(url),
        onError: error => found.push(error.message),
        onFileError: () => {},
      });
      await server.start();
      const { port } = server;
      server.close();
      return { port, found };
    };
    const other = await second(true);
    assert.deepEqual(other.found, [`http://127.0.0.1:${other.port}/`]);
    assert.notEqual(other.port, page.port);
    assert.match((await second(false)).found.join(), /address already in use/);
  });

  test('PAGE-3 it serves the page, its files and the inspection API', async () => {
    const page = await open();
    const index = await page.call({ headers: { 'Accept-Encoding': 'gzip' } });
    assert.deepEqual([index.status, index.headers['content-encoding']], [200, 'gzip']);
    assert.equal((await page.call({ headers: { 'Accept-Encoding': 'br' } })).headers['content-encoding'], 'br');
    const etag = String(index.headers.etag);
    assert.equal((await page.call({ headers: { 'If-None-Match': etag } })).status, 304);
    assert.equal((await page.call({ path: '/app.js' })).headers['content-type'], 'text/javascript; charset=utf-8');
    assert.equal(JSON.parse((await page.call({ path: '/v1/status' })).body).mode, 'nftables');
  });

  test('PAGE-3 HEAD has the headers of GET and no body, also where GET gives an endless stream', async () => {
    async function* forever() {
      for (;;) yield 'x';
    }
    const live = { path: '/v1/live', about: '', answer: () => ({ status: 200, headers: {}, body: forever() }) };
    const page = await open({ routes: [live] });
    for (const path of ['/', '/v1/page', '/v1/live']) {
      const { status, body } = await page.call({ path, method: 'HEAD' });
      assert.deepEqual([status, body], [200, ''], path);
    }
  });

  test('PAGE-3 every other method is refused everywhere, and a body is ignored', async () => {
    const page = await open();
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']) {
      for (const path of ['/', '/app.js', '/v1/status', '/v1/page']) {
        const { status, headers } = await page.call({ path, method });
        assert.deepEqual([status, headers.allow], [405, 'GET, HEAD'], `${method} ${path}`);
      }
    }
    const ignored = { path: '/v1/status', headers: { 'Content-Length': '3' }, body: 'abc' };
    assert.equal((await page.call(ignored)).status, 200);
  });

  test('PAGE-3 no path leads to a file of the machine', async () => {
    const page = await open();
    const paths = [
      '/../etc/passwd',
      '/..%2f..%2fetc/passwd',
      '/%2e%2e/%2e%2e/etc/passwd',
      '//etc/passwd',
      '/etc/passwd',
    ];
    for (const path of [...paths, '/app.js/../../etc/passwd', '/v1/../../../etc/passwd', '/app.js%00', '/index.html']) {
      assert.equal((await page.call({ path })).status, 404, path);
    }
  });

  test('PAGE-8 a name that leads to the address, and pages of other sites, are refused', async () => {
    const page = await open();
    const status = async (headers: Readonly<Record<string, string>>, path = '/v1/status') =>
      (await page.call({ path, headers })).status;
    const own = `localhost:${page.port}`;
    for (const Host of ['attacker.example', '127.0.0.1.nip.io', 'localhost.attacker.example', '192.168.0.1']) {
      assert.equal(await status({ Host }), 403, Host);
      assert.equal(await status({ Host }, '/'), 403, Host);
    }
    assert.equal(await status({ Host: own }), 200);
    assert.equal(await status({ Host: '[::1]:1' }), 200);
    assert.equal(await status({ Host: own, Origin: `http://${own}` }), 200);
    for (const Origin of ['http://attacker.example', `https://${own}`, 'http://localhost:1', 'null', '']) {
      assert.equal(await status({ Host: own, Origin }), 403, Origin);
    }
    for (const site of ['cross-site', 'same-site']) assert.equal(await status({ 'Sec-Fetch-Site': site }), 403);
    for (const site of ['same-origin', 'none']) assert.equal(await status({ 'Sec-Fetch-Site': site }), 200);
  });

  test('PAGE-8 a link of another site may lead to the page, but not to the API, and no script may load files', async () => {
    const page = await open();
    const link = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };
    assert.equal((await page.call({ headers: link })).status, 200);
    assert.equal((await page.call({ path: '/v1/status', headers: link })).status, 403);
    const framed = { ...link, 'Sec-Fetch-Dest': 'iframe' };
    assert.equal((await page.call({ headers: framed })).status, 403);
    const script = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'script' };
    assert.equal((await page.call({ path: '/app.js', headers: script })).status, 403);
  });

  test('PAGE-9 every answer has the headers that protect the page, and no cookie', async () => {
    const failing = { path: '/v1/broken', about: '', answer: () => assert.fail('broken') };
    const stream = async function* () {
      yield 'x';
    };
    const live = { path: '/v1/live', about: '', answer: () => ({ status: 200, headers: {}, body: stream() }) };
    const page = await open({ routes: [failing, live] });
    const calls: readonly (PageCall & { readonly status: number })[] = [
      { path: '/', status: 200 },
      { path: '/app.css', status: 200 },
      { path: '/v1/page', status: 200 },
      { path: '/v1/live', status: 200 },
      { path: '/v1/nothing', status: 404 },
      { path: '/nothing', status: 404 },
      { path: '/%zz', status: 400 },
      { path: '/v1/broken', status: 500 },
      { path: '/v1/trace', status: 403 },
      { path: `/${'x'.repeat(5000)}`, status: 414 },
      { path: '/', headers: { Host: 'attacker.example' }, status: 403 },
      { path: '/', method: 'POST', status: 405 },
      { path: '/', headers: { Expect: 'something' }, status: 417 },
      { path: '/', headers: { X: 'x'.repeat(20_000) }, status: 431 },
    ];
    for (const { status, ...call } of calls) {
      const { status: found, headers } = await page.call(call);
      assert.equal(found, status, call.path);
      for (const [name, value] of Object.entries(PROTECTION))
        assert.equal(headers[name], value, `${call.path} ${name}`);
      checkPolicy(String(headers['content-security-policy']));
      assert.match(String(headers['permissions-policy']), /camera=\(\)/);
      assert.equal(headers['set-cookie'], undefined);
      const isFile = call.path === '/app.css' || (call.path === '/' && status === 200);
      assert.equal(headers['cache-control'], isFile ? 'no-cache' : 'no-store', call.path);
    }
  });

  test('PAGE-9 also the answer to bytes that are no request has them', async () => {
    const socket = connect((await open()).port, '127.0.0.1');
    try {
      socket.write('nonsense\r\n\r\n');
      const [bytes] = await once(socket, 'data');
      assert.match(String(bytes), /^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*Content-Security-Policy: default-src 'none'/);
      assert.match(String(bytes), /Connection: close/);
    } finally {
      socket.destroy();
    }
  });

  test('PAGE-10 a peer that asks too often gets 429, and others go on', async () => {
    const clock = new ManualClock();
    const page = await open({ clock });
    const statusOf = async (from = '127.0.0.1') => (await page.call({ path: '/app.css', from })).status;
    for (let i = 0; i < 200; i++) assert.equal(await statusOf(), 200);
    assert.equal(await statusOf(), 429);
    assert.equal(await statusOf('127.0.0.2'), 200);
    await clock.advance(40);
    assert.deepEqual([await statusOf(), await statusOf(), await statusOf()], [200, 200, 429]);
  });

  test('PAGE-10 silent connections do not keep others out', async () => {
    const page = await open();
    const silent = Array.from({ length: 100 }, () => connect(page.port, '127.0.0.1').on('error', () => {}));
    try {
      await Promise.all(silent.map(socket => once(socket, 'connect')));
      assert.equal((await page.call({ path: '/v1/status', from: '127.0.0.3' })).status, 200);
    } finally {
      for (const socket of silent) socket.destroy();
    }
  });

  test('PAGE-11 the page probes and traces only if it is allowed, and says what it may do', async () => {
    const asked: boolean[] = [];
    const routes = [
      explainRoute(async ({ probe }) => {
        asked.push(probe === true);
        return { schema: 'x' };
      }),
    ];
    const page = await open({ routes });
    const refused = await page.call({ path: '/v1/explain?to=web&probe=true' });
    assert.equal(refused.status, 403);
    assert.match(JSON.parse(refused.body).error, /may not probe here: .* --page-allow=probe$/);
    assert.equal((await page.call({ path: '/v1/explain?to=web&probe=false&probe=true' })).status, 403);
    assert.equal((await page.call({ path: '/v1/%65xplain?to=web&%70robe=true' })).status, 403);
    assert.match((await page.call({ path: '/v1/trace?to=web' })).body, /--page-allow=trace"/);
    for (const allows of [['trace'], ['probe']] as const) {
      const half = await open({ routes, allows });
      for (const query of ['send=true', 'send=false&send=true', '%73end=x']) {
        const sent = await half.call({ path: `/v1/trace?to=web&${query}` });
        assert.deepEqual([sent.status, /--page-allow=probe,trace"/.test(sent.body)], [403, true], query);
      }
    }
    assert.equal((await page.call({ path: '/v1/explain?to=web&probe=false' })).status, 200);
    const allowed = await open({ routes, allows: ['probe'] });
    assert.equal((await allowed.call({ path: '/v1/explain?to=web&probe=true' })).status, 200);
    assert.deepEqual(asked, [false, true]);
    assert.deepEqual(JSON.parse((await allowed.call({ path: '/v1/page' })).body), {
      schema: 'pointsman.page/v1',
      version: '1.2.3',
      allows: ['probe'],
      view: 'node',
      command: 'kube-proxy',
    });
  });
});

function checkPolicy(policy: string): void {
  const rules = new Map(policy.split('; ').map(rule => [rule.replace(/ .*/, ''), rule.replace(/^\S+ /, '')]));
  assert.equal(rules.get('default-src'), "'none'");
  for (const name of ['script-src', 'style-src', 'connect-src']) assert.equal(rules.get(name), "'self'");
  for (const name of ['base-uri', 'form-action', 'frame-ancestors', 'trusted-types']) {
    assert.equal(rules.get(name), "'none'");
  }
  assert.equal(rules.get('require-trusted-types-for'), "'script'");
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
}
