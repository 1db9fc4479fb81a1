import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, before, beforeEach, describe, test } from 'node:test';
import type { NetworkNamespace } from '../src/kernel/netns.ts';
import type { Ip } from '../src/net/index.ts';
import { HttpClient } from './control-plane/http-client.ts';
import { Program } from './control-plane/program.ts';
import { certificates } from './support/certificates.ts';
import { buildKubeProxy, KUBE_PROXY, SYNCED } from './support/kube-proxy.ts';
import { createNodeNamespace } from './support/namespaces.ts';

const FLAGS = ['--manifests', 'examples', '--hostname-override', 'node-a', '--proxy-mode', 'nftables'];
const TOKEN = 'the-token-of-the-page-of-node-a';

describe('the page of a running proxy', () => {
  let namespace: NetworkNamespace;
  let folder: string;
  let socket: string;
  const programs: Program[] = [];

  before(() => buildKubeProxy());

  beforeEach(() => {
    namespace = createNodeNamespace();
    folder = mkdtempSync(join(tmpdir(), 'page-'));
    socket = join(folder, 'proxy.sock');
  });

  afterEach(async () => {
    await Promise.all(programs.splice(0).map(program => program.stop('SIGKILL')));
    namespace.close();
    rmSync(folder, { recursive: true });
  });

  function start(name: string, ...command: string[]): Program {
    // What a command prints goes to its log.
    const program = new Program(name, ['sh', '-c', 'exec "$@" >&2', 'sh', KUBE_PROXY, ...command], { namespace });
    programs.push(program);
    return program;
  }

  function write(name: string, text: string): string {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  }

  async function ask(port: number, path: string, headers: Readonly<Record<string, string>> = {}, ca?: string) {
    const client = new HttpClient({ namespace, ip: '127.0.0.1' as Ip, port, ca });
    try {
      return await client.request({ method: 'GET', path, headers });
    } finally {
      client.close();
    }
  }

  test('PAGE-1 PAGE-2 PAGE-7 PAGE-11 the proxy serves its page at all addresses with TLS and a token, beside a configuration file', async () => {
    const { server, ca } = certificates();
    const kind = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: nftables\n';
    const own = ['--config', write('config.yaml', kind), '--inspect-socket=', '--page-bind-address', '0.0.0.0:10280'];
    const files = [
      ...['--page-tls-cert-file', write('tls.crt', server.cert), '--page-tls-key-file', write('tls.key', server.key)],
      ...['--page-token-file', write('token', `${TOKEN}\n`), '--page-allow=probe'],
    ];
    const proxy = start('the proxy', ...FLAGS, ...own, ...files);
    await proxy.until('"The operator\'s page listens" url="https://node-a:10280/"');
    await proxy.until(SYNCED);
    assert.equal((await ask(10_280, '/', {}, ca.cert)).status, 200);
    assert.equal((await ask(10_280, '/v1/status', {}, ca.cert)).status, 401);
    const headers = { 'Pointsman-Token': TOKEN };
    const status = JSON.parse((await ask(10_280, '/v1/status', headers, ca.cert)).text);
    assert.deepEqual([status.node, status.ready], ['node-a', true]);
    assert.deepEqual(JSON.parse((await ask(10_280, '/v1/page', headers, ca.cert)).text).allows, ['probe']);
    assert.equal((await ask(10_280, '/v1/trace?to=web', headers, ca.cert)).status, 403);
    const shown = [...proxy.lines, (await ask(10_280, '/v1/configuration', headers, ca.cert)).text].join('\n');
    assert.ok(!shown.includes(TOKEN));
  });

  test('PAGE-1 PAGE-12 with manifests there is a page, and the command serves another one while the proxy restarts', async () => {
    const startProxy = async () => {
      const proxy = start('the proxy', ...FLAGS, '--inspect-socket', socket);
      await proxy.until('"The operator\'s page listens" url="http://127.0.0.1:10280/"');
      await proxy.until(SYNCED);
      return proxy;
    };
    const proxy = await startProxy();
    assert.equal(JSON.parse((await ask(10_280, '/v1/status')).text).pid, proxy.pid);
    const page = start('the page', 'page', '--inspect-socket', socket);
    await page.until(/^The operator's page: http:\/\/127\.0\.0\.1:\d+\/$/);
    const port = Number(/:(\d+)\//.exec(page.lines.join())?.[1]);
    assert.notEqual(port, 10_280);
    assert.equal(JSON.parse((await ask(port, '/v1/status')).text).pid, proxy.pid);
    assert.equal((await ask(port, '/', { Host: 'attacker.example' })).status, 403);
    await proxy.stop();
    const gone = await ask(port, '/v1/status');
    assert.equal(gone.status, 503);
    assert.match(JSON.parse(gone.text).error, /no socket at|no proxy listens/);
    assert.equal((await ask(port, '/')).status, 200);
    const next = await startProxy();
    assert.equal(JSON.parse((await ask(port, '/v1/status')).text).pid, next.pid);
    assert.deepEqual(await page.stop('SIGTERM'), { status: 0, signal: null });
  });
});
