import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { NetworkNamespace } from '../src/kernel/netns.ts';
import { NftablesMode } from '../src/modes/nftables/mode.ts';
import { Program } from './control-plane/program.ts';
import { ask, factsOf, stepText } from './support/explain-facts.ts';
import { buildKubeProxy, KUBE_PROXY, runKubeProxy, SYNCED } from './support/kube-proxy.ts';
import { ManualClock } from './support/manual-clock.ts';
import { ModeHarness } from './support/mode-harness.ts';
import { createNodeNamespace, withNamespace } from './support/namespaces.ts';
import { nft } from './support/nftables-mode.ts';
import { service, slice } from './support/objects.ts';
import { runIn } from './support/run-in.ts';

const FLAGS = ['--manifests', 'examples', '--hostname-override', 'node-a', '--proxy-mode', 'nftables'];

describe('explain with a running proxy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'explain-'));
  const socket = join(folder, 'proxy.sock');
  let namespace: NetworkNamespace;
  let proxy: Program | undefined;

  before(async () => {
    buildKubeProxy();
    namespace = createNodeNamespace();
    runIn(namespace, 'sysctl', ['-qw', 'net.ipv4.ip_forward=1']);
    const command = [KUBE_PROXY, ...FLAGS, '--inspect-socket', socket, '--cluster-cidr', '10.244.0.0/16'];
    proxy = new Program('the proxy', command, { namespace });
    await proxy.until(SYNCED);
  });

  after(async () => {
    await proxy?.stop('SIGKILL');
    namespace?.close();
    rmSync(folder, { recursive: true });
  });

  function explain(...args: string[]) {
    return runKubeProxy(namespace, ['explain', '--inspect-socket', socket, ...args]);
  }

  test('EXPLAIN-14 EXPLAIN-19 a Service that works: the kernel has every entry', () => {
    const { status, stdout, stderr } = explain('web', '--from', '10.244.1.7');
    assert.deepEqual([status, stderr], [0, ''], stdout);
    assert.match(stdout, /\n6 ✓ kernel {7}The kernel has all \d+ entries that the proxy wants, read just now\.\n/);
    assert.match(stdout, /✓ map ip kube-proxy service-numbers: 10\.96\.0\.10 \. tcp \. 80 comment/);
    assert.match(
      stdout,
      /\n✓ works: A connection from a pod at 10\.244\.1\.7 to 10\.96\.0\.10:80\/TCP is answered by one of 2\n/,
    );
  });

  test('EXPLAIN-16 a rule of another program that drops the packet is named', () => {
    nft(namespace, 'add table inet guard');
    try {
      nft(namespace, 'add chain inet guard fw { type filter hook forward priority 10; }');
      nft(namespace, 'add rule inet guard fw ip daddr 10.244.0.0/16 tcp dport 8080 drop');
      const { status, stdout } = explain('web', '--from', '10.244.1.7');
      assert.equal(status, 1, stdout);
      assert.match(stdout, /\n✗ broken: A rule in table inet guard, chain fw \(forward\) drops the packet\.\n/);
      assert.match(stdout, /\n {4}nft -a list chain inet guard fw\n$/);
    } finally {
      nft(namespace, 'delete table inet guard');
    }
  });

  test('EXPLAIN-15 a connection that is pinned to an old endpoint is named', () => {
    const original = ['-s', '10.244.1.7', '-d', '10.96.0.53', '--sport', '4711', '--dport', '53'];
    const reply = ['--reply-src', '10.244.9.9', '--reply-dst', '10.244.1.7'];
    const ports = ['--reply-port-src', '53', '--reply-port-dst', '4711'];
    runIn(namespace, 'conntrack', ['-I', '-p', 'udp', ...original, ...reply, ...ports, '-t', '600']);
    const { status, stdout } = explain('kube-system/dns:dns', '--from', '10.244.1.7');
    assert.equal(status, 1, stdout);
    assert.match(stdout, /✗ connections {2}1 connection of this caller is pinned to 10\.244\.9\.9:53,/);
    const [command = ''] = /conntrack -D .*/.exec(stdout) ?? [];
    runIn(namespace, 'conntrack', command.split(' ').slice(1));
    assert.equal(explain('kube-system/dns:dns', '--from', '10.244.1.7').status, 0);
  });

  test('EXPLAIN-18 endpoints that do not answer are named', () => {
    const { status, stdout } = explain('--probe', 'web');
    assert.equal(status, 1, stdout);
    assert.match(stdout, /\n✗ broken: The proxy is right, the endpoint is not: 10\.244\.\d\.10:8080 /);
  });

  test('EXPLAIN-17 at an address of the node that no Service has, the answer says that nothing listens', () => {
    const { status, stdout } = explain('192.168.0.2:22');
    assert.equal(status, 1, stdout);
    assert.match(stdout, /No program of the node listens at 192\.168\.0\.2:22/);
  });

  test('EXPLAIN-1 a question that the proxy cannot read has the status 2', () => {
    const { status, stderr } = explain('10.96.0.10');
    assert.equal(status, 2);
    assert.match(stderr, /10\.96\.0\.10 has no port/);
  });
});

test('EXPLAIN-14 an element that another program deleted is named', async () => {
  await withNamespace(async namespace => {
    // No time passes for the mode, so it repairs nothing.
    const harness = new ModeHarness(events => new NftablesMode({ namespace, events, clock: new ManualClock() }));
    try {
      const objects = [service('web', { clusterIP: '10.96.0.10' }), slice('web-1', ['10.244.1.2'])] as const;
      harness.set(...objects);
      await harness.sync();
      const [plan = assert.fail()] = harness.plans();
      const kernel = { readBack: () => harness.mode.readBack('IPv4', plan) };
      const facts = factsOf(objects, { kernel });
      assert.equal((await ask('web', facts)).verdict, 'works');
      nft(namespace, 'delete element ip kube-proxy service-numbers { 10.96.0.10 . tcp . 80 }');
      const answer = await ask('web', facts);
      assert.equal(answer.verdict, 'broken');
      assert.match(
        stepText(answer, 'kernel'),
        /✗ element missing in map ip kube-proxy service-numbers\n {4}wanted: 10\.96\.0\.10 \. tcp \. 80 comment "default\/web" : /,
      );
    } finally {
      await harness.close();
    }
  });
});
