import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkedProxyUrl, proxyFromEnvironment } from './http-proxy.ts';

const PROXY = { HTTPS_PROXY: 'http://proxy.test:3128' };

function proxied(server: string, noProxy = ''): boolean {
  return proxyFromEnvironment(new URL(server), { ...PROXY, NO_PROXY: noProxy }) !== undefined;
}

test('CLIENT-8 HTTPS_PROXY counts for https, HTTP_PROXY for http, in either case', () => {
  const https = new URL('https://api.test:6443');
  const http = new URL('http://api.test:8080');
  assert.equal(proxyFromEnvironment(https, PROXY)?.host, 'proxy.test:3128');
  assert.equal(proxyFromEnvironment(http, PROXY), undefined);
  assert.equal(proxyFromEnvironment(http, { http_proxy: 'proxy.test:1' })?.href, 'http://proxy.test:1/');
  assert.equal(proxyFromEnvironment(https, {}), undefined);
});

test('CLIENT-8 NO_PROXY names hosts, domains, addresses, networks and ports', () => {
  assert.ok(proxied('https://api.test:6443'));
  assert.ok(!proxied('https://api.test:6443', 'other.test, api.test'));
  assert.ok(!proxied('https://api.test:6443', 'TEST'));
  assert.ok(!proxied('https://api.test:6443', '.test'));
  assert.ok(proxied('https://test:6443', '.test'));
  assert.ok(!proxied('https://api.test:6443', '*'));
  assert.ok(!proxied('https://api.test:6443', 'api.test:6443'));
  assert.ok(proxied('https://api.test:6443', 'api.test:443'));
  assert.ok(!proxied('https://10.96.0.1', '10.96.0.0/12'));
  assert.ok(proxied('https://10.96.0.1', '10.95.0.0/16, fd00::/8'));
  assert.ok(!proxied('https://10.96.0.1', '10.96.0.1'));
  assert.ok(!proxied('https://[fd00::1]:6443', 'fd00::1'));
  assert.ok(!proxied('https://[fd00::1]:6443', '[fd00:0::1]:6443'));
  assert.ok(proxied('https://[fd00::1]:6443', '[fd00::1]:443'));
});

test('CLIENT-8 this machine is never reached through a proxy', () => {
  for (const server of ['https://localhost', 'https://127.0.0.1:6443', 'https://[::1]:6443']) {
    assert.ok(!proxied(server), server);
  }
});

test('CLIENT-8 a SOCKS proxy is refused, and so is what is no address', () => {
  const where = 'proxy-url';
  assert.throws(() => checkedProxyUrl('socks5://x:1', where), {
    code: 'configuration',
    message: 'proxy-url: SOCKS proxies are not supported: use one for http or https',
  });
  assert.throws(() => checkedProxyUrl('ftp://x', where), { message: /"ftp:\/\/x" must be an http:\/\/ or https:\/\// });
  assert.throws(() => proxyFromEnvironment(new URL('https://api.test'), { https_proxy: 'ftp://x' }), {
    message: /^the environment variable HTTPS_PROXY: /,
  });
});
