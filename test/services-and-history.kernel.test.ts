import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { NetworkNamespace } from '../src/kernel/netns.ts';
import { Program } from './control-plane/program.ts';
import { buildKubeProxy, KUBE_PROXY, runKubeProxy, SYNCED } from './support/kube-proxy.ts';
import { nft } from './support/nftables-mode.ts';
import { waitFor } from './support/wait-for.ts';

/** The real program on the examples, and commands that ask it. */
describe('services and history of a running proxy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pointsman-history-'));
  const manifests = join(folder, 'manifests');
  const socket = join(folder, 'proxy.sock');
  let namespace: NetworkNamespace;
  let proxy: Program;

  before(async () => {
    buildKubeProxy();
    namespace = NetworkNamespace.create();
    cpSync('examples', manifests, { recursive: true });
    const flags = ['--manifests', manifests, '--hostname-override', 'node-a', '--proxy-mode', 'nftables'];
    const own = ['--count-connections', '--inspect-socket', socket, '--healthz-bind-address='];
    proxy = new Program('the proxy', [KUBE_PROXY, ...flags, ...own], { namespace });
    await proxy.until(SYNCED);
  });

  after(async () => {
    await proxy?.stop();
    namespace?.close();
    rmSync(folder, { recursive: true });
  });

  function run(...args: string[]) {
    return runKubeProxy(namespace, [...args, '--inspect-socket', socket]);
  }

  function edit(file: string, from: string, to: string): void {
    const path = join(manifests, file);
    const text = readFileSync(path, 'utf8');
    assert.ok(text.includes(from));
    writeFileSync(path, text.replace(from, to));
  }

  test('HISTORY-22, HISTORY-24, HISTORY-28 services lists what the proxy serves, with connections', () => {
    const { status, stdout, stderr } = run('services');
    assert.deepEqual([status, stderr], [0, '']);
    const [header = '', ...rows] = stdout.trimEnd().split('\n');
    assert.deepEqual(header.split(/ {2,}/), [
      'NAMESPACE',
      'NAME',
      'TYPE',
      'ADDRESS',
      'PORTS',
      'ENDPOINTS',
      'CONNECTIONS',
      'STATE',
      'CHANGED',
    ]);
    assert.deepEqual(
      rows.map(row => row.split(/ {2,}/).slice(0, 8).join(' ')),
      [
        'default api LoadBalancer 10.96.0.30 +1 443:30443/TCP 2/2 0 programmed',
        'default cart ClusterIP 10.96.0.40 80/TCP 2/2 0 programmed',
        'default idle ClusterIP 10.96.0.60 80/TCP 0/0 0 no endpoints',
        'default shop NodePort 10.96.0.20 80:30080/TCP 2/2 0 programmed',
        'default web ClusterIP 10.96.0.10 80/TCP 2/3 0 programmed',
        'kube-system dns ClusterIP 10.96.0.53 +1 53/UDP,53/TCP 1/2 0 programmed',
      ],
    );
  });

  test('HISTORY-26 services --broken has the reasons, and its exit status is 1 if there are any', () => {
    const broken = run('services', '--broken');
    assert.equal(broken.status, 1);
    assert.match(broken.stdout, /^default +idle .* no endpoints .* port 80\/TCP has no endpoints\n$/m);
    assert.equal(broken.stdout.split('\n').length, 3);
    const good = run('services', 'kube-system/*', '--broken');
    assert.deepEqual([good.status, good.stdout], [0, '']);
    assert.equal(good.stderr, 'No Service that matches "kube-system/*" is broken.\n');
  });

  test('HISTORY-27 a name that does not exist is an error with the nearest name, in both commands', () => {
    for (const command of ['services', 'history']) {
      const { status, stdout, stderr } = run(command, 'webb');
      assert.deepEqual([status, stdout], [2, '']);
      assert.match(stderr, /there is no Service "default\/webb": did you mean default\/web\?/);
    }
  });

  test('PROGRAMMED-10 with manifests, a wait ends when the proxy has nothing left to write', () => {
    const { status, stdout } = run('wait', 'web');
    assert.deepEqual([status, stdout], [0, '✓ default/web is programmed on 1 node\n']);
    const unknown = run('wait', 'none', '--timeout', '100ms');
    assert.equal(unknown.status, 1);
    assert.match(unknown.stdout, /node-a: the proxy does not know the Service default\/none/);
  });

  test('HISTORY-2, HISTORY-12, HISTORY-21 an edited manifest is in the history, and a follower sees it at once', async () => {
    const follower = spawn(KUBE_PROXY, ['history', 'web', '--follow', '-o', 'json', '--inspect-socket', socket]);
    let followed = '';
    follower.stdout.on('data', data => {
      followed += data;
    });
    try {
      // The follower may open its stream later. Then the change is among the first entries.
      edit('web.yaml', '10.244.1.10', '10.244.1.77');
      await waitFor('the follower prints the change', () => followed.includes('10.244.1.77'), { timeoutMs: 60_000 });
    } finally {
      follower.kill();
      await once(follower, 'close');
    }
    const entry = JSON.parse(followed.trim().split('\n').at(-1) ?? '');
    assert.equal(entry.state, 'written');
    assert.equal(entry.cause, 'EndpointSlice web-1 updated');
    assert.equal(entry.change, 'http: 1 endpoint added: 10.244.1.77:8080; 1 removed: 10.244.1.10:8080; 2 in use');
    assert.ok(entry.writtenMs >= entry.plannedMs && entry.writtenMs < 60_000);
    const { stdout } = run('history', 'web', '--since', '10m');
    assert.match(stdout, / change +Service default\/web IPv4 +event → kernel [\d.]+ ms +http: 1 endpoint added/);
    const [row] = JSON.parse(run('services', 'web', '-o', 'json').stdout).services;
    assert.equal(row.changed, entry.time);
  });

  test('HISTORY-7 a repair has the program that made it necessary', async () => {
    nft(namespace, 'delete element ip kube-proxy cluster-ips { 10.96.0.10 }');
    await proxy.until('Repaired rules that another program changed');
    const lines = run('history').stdout.split('\n');
    assert.match(lines.find(line => / repair +IPv4 /.test(line)) ?? '', /nft \(pid \d+\) .*the proxy repaired it: /);
  });
});
