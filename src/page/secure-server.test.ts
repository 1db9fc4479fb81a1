import assert from 'node:assert/strict';
import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, describe, test } from 'node:test';
import { certificates } from '../../test/support/certificates.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { PageUnderTest, type PageUnderTestOptions, TOKEN } from '../../test/support/page-server.ts';
import { withoutSecrets } from '../lib/secrets.ts';

const STATUS = '/v1/status';

describe('the server of the page with TLS and a token', () => {
  const pages: PageUnderTest[] = [];
  const open = async (options: PageUnderTestOptions = {}) => {
    const page = await new PageUnderTest({ isSecure: true, ...options }).open();
    pages.push(page);
    return page;
  };
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

  afterEach(() => {
    for (const page of pages.splice(0)) page.close();
  });

  test('PAGE-7 the API needs the token in one of two headers, and the files of the page need none', async () => {
    const page = await open();
    assert.deepEqual(page.urls, [`https://127.0.0.1:${page.port}/`]);
    assert.equal((await page.call()).status, 200);
    assert.equal((await page.call({ path: '/app.js' })).status, 200);
    for (const path of ['/v1', STATUS, '/v1/page', '/v1/nothing', '/%76%31/status', '/v1%2fstatus']) {
      const { status, headers, body } = await page.call({ path });
      assert.deepEqual([status, headers['www-authenticate']], [401, 'Bearer'], path);
      assert.match(JSON.parse(body).error, /^a token is missing: send the token .* Bearer TOKEN, or Pointsman-Token/);
      assert.match(String(headers['content-security-policy']), /^default-src 'none'/);
      assert.equal(headers['cache-control'], 'no-store');
    }
    assert.equal((await page.call({ path: STATUS, headers: bearer(TOKEN) })).status, 200);
    assert.equal((await page.call({ path: STATUS, headers: { 'Pointsman-Token': TOKEN } })).status, 200);
    assert.equal((await page.call({ path: `${STATUS}?token=${TOKEN}` })).status, 401);
    assert.equal((await page.call({ path: STATUS, headers: { Cookie: `token=${TOKEN}` } })).status, 401);
  });

  test('PAGE-7 only the whole token is right', async () => {
    const page = await open();
    for (const token of [TOKEN.slice(0, -1), `${TOKEN}x`, TOKEN.toUpperCase(), 'x']) {
      const { status, body } = await page.call({ path: STATUS, headers: bearer(token) });
      assert.equal(status, 401);
      assert.match(body, /the token is wrong/);
    }
  });

  test('PAGE-7 a short token is refused with an error that does not show it', async () => {
    const { errors, urls } = await open({ token: 'short-token-123' });
    assert.deepEqual(urls, []);
    assert.match(
      errors.join(),
      /^the token in .*\/token has 15 characters, and needs 16 or more: make one with openssl/,
    );
    assert.doesNotMatch(errors.join(), /short-token/);
    assert.match((await open({ token: 'two words are no token' })).errors.join(), /must have one token/);
    assert.doesNotMatch(withoutSecrets(`x ${TOKEN} y`), new RegExp(TOKEN));
  });

  test('PAGE-6 a new token and a new certificate count within a second, and the former ones do not', async () => {
    const clock = new ManualClock();
    const page = await open({ clock });
    const next = 'another-token-of-the-test';
    const { ca, intermediate, behindIntermediate } = certificates();
    assert.equal((await page.call({ path: STATUS, headers: bearer(TOKEN) })).status, 200);
    page.write(behindIntermediate, next);
    assert.equal((await page.call({ path: STATUS, headers: bearer(TOKEN) })).status, 200);
    await clock.advance(1000);
    const roots = `${intermediate.cert}${ca.cert}`;
    assert.equal((await page.call({ path: STATUS, headers: bearer(next), ca: roots })).status, 200);
    assert.equal((await page.call({ path: STATUS, headers: bearer(TOKEN), ca: roots })).status, 401);
    await assert.rejects(page.call({ ca: certificates().otherCa.cert }));
    assert.deepEqual(page.errors, []);
  });

  test('PAGE-6 the kubelet swaps a symlink, and the new file counts', async () => {
    const clock = new ManualClock();
    const page = await open({ clock });
    const { tokenFile } = page.files;
    const next = 'the-token-behind-the-link';
    writeFileSync(`${tokenFile}-2`, next);
    symlinkSync(`${tokenFile}-2`, `${tokenFile}-link`);
    renameSync(`${tokenFile}-link`, tokenFile);
    await clock.advance(1000);
    assert.equal((await page.call({ path: STATUS, headers: bearer(next) })).status, 200);
  });

  test('PAGE-6 while the new files are wrong, the former ones count and the error is reported', async () => {
    const clock = new ManualClock();
    const page = await open({ clock });
    const { server, behindIntermediate } = certificates();
    page.write({ cert: behindIntermediate.cert, key: server.key }, 'short');
    await clock.advance(1000);
    assert.equal((await page.call({ path: STATUS, headers: bearer(TOKEN) })).status, 200);
    const [certificate, token] = page.errors;
    assert.match(certificate ?? '', /tls\.crt and .*tls\.key are not a certificate and its key in PEM/);
    assert.match(token ?? '', /has 5 characters/);
  });

  test('PAGE-8 the Host is an address or a name of the machine, unless the request has the token', async () => {
    const page = await open();
    const status = async (headers: Readonly<Record<string, string>>, path = '/') =>
      (await page.call({ path, headers })).status;
    for (const Host of ['attacker.example', 'node-b', 'node-a.attacker.example']) {
      assert.equal(await status({ Host }), 403, Host);
      assert.equal(await status({ Host }, STATUS), 403, Host);
      assert.equal(await status({ Host, ...bearer('wrong') }, STATUS), 403, Host);
    }
    for (const Host of ['node-a', 'machine.example:10280', '192.168.0.2:10280', '[fd00::1]:10280', 'localhost:1']) {
      assert.equal(await status({ Host }), 200, Host);
      assert.equal(await status({ Host, ...bearer(TOKEN) }, STATUS), 200, Host);
    }
    assert.equal(await status({ Host: 'api.example:6443', ...bearer(TOKEN) }, STATUS), 200);
  });

  test('PAGE-8 pages of other sites may not ask, also with the token', async () => {
    const page = await open();
    const own = { Host: `node-a:${page.port}`, ...bearer(TOKEN) };
    const status = async (headers: Readonly<Record<string, string>>) =>
      (await page.call({ path: STATUS, headers: { ...own, ...headers } })).status;
    assert.equal(await status({ Origin: `https://node-a:${page.port}` }), 200);
    for (const Origin of [`http://node-a:${page.port}`, 'https://node-a', 'https://attacker.example', 'null']) {
      assert.equal(await status({ Origin }), 403, Origin);
    }
    assert.equal(await status({ 'Sec-Fetch-Site': 'cross-site' }), 403);
    assert.equal(await status({ 'Sec-Fetch-Site': 'same-origin' }), 200);
  });
});
