import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { defaultConfiguration } from '../src/config/index.ts';
import { namespaceCookie } from '../src/kernel/netns.ts';
import { systemClock } from '../src/lib/clock.ts';
import { configuredMode, createMode, registerTraffic, TrafficReader } from '../src/modes/index.ts';
import { FAMILIES, type Ip } from '../src/net/index.ts';
import { MetricSet } from '../src/observe/metrics/index.ts';
import { Program } from './control-plane/program.ts';
import { TestNode } from './e2e/test-node.ts';
import { testControlGroup } from './support/bpf-lab.ts';
import { runKubeProxy, SYNCED } from './support/kube-proxy.ts';
import { ModeHarness } from './support/mode-harness.ts';
import { createNodeNamespace } from './support/namespaces.ts';
import { service, slice } from './support/objects.ts';
import { TestNetwork, TestSocket } from './support/test-socket.ts';
import { waitFor } from './support/wait-for.ts';

const FLAGS = ['--manifests', 'examples', '--hostname-override', 'node-a', '--cluster-cidr', '10.244.0.0/16'];

test('EBPF-64 HEALTH-27 without its control group the network serves alone, until the group is there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'condition-'));
  const socket = join(folder, 'socket');
  const group = join(testControlGroup(), 'condition');
  const namespace = createNodeNamespace();
  const config = ['--proxy-mode', 'ebpf', '--cgroup-root', group, '--iptables-sync-period', '1s'];
  const command = ['bin/kube-proxy', ...FLAGS, ...config, '--inspect-socket', socket, '--page-bind-address='];
  const proxy = new Program('kube-proxy', command, { namespace });
  const node = new TestNode(namespace);
  const sockets = async () => /^.*sockets.*$/m.exec((await node.health('/readyz?verbose')).text)?.[0] ?? '';
  const gauge = async () => /^pointsman_sockets_serving (\d)$/m.exec((await node.metricsServer('/metrics')).text)?.[1];
  try {
    await proxy.until(SYNCED);
    assert.equal((await node.health('/readyz')).status, 200);
    assert.match(await sockets(), /^\[\+\]sockets ok: not serving: .* is no folder of a cgroup2 file system/);
    assert.equal(await gauge(), '0');
    const status = runKubeProxy(namespace, ['status', '--inspect-socket', socket]);
    assert.equal(status.status, 0, status.stdout + status.stderr);
    assert.match(status.stdout, /^ {2}! sockets ok: not serving: /m);
    mkdirSync(group);
    await waitFor('sockets are served', async () => (await sockets()).includes('ok: serving: '));
    assert.equal(await gauge(), '1');
    assert.match(
      runKubeProxy(namespace, ['status', '--inspect-socket', socket]).stdout,
      /^ {2}✓ sockets ok: serving: /m,
    );
    const reports = proxy.lines.filter(line => line.includes('"Part of the mode'));
    assert.deepEqual(
      reports.map(line => /"Part of the mode [^"]*"/.exec(line)?.[0]),
      ['"Part of the mode does not serve"', '"Part of the mode serves"'],
    );
  } finally {
    await proxy.stop('SIGKILL');
    namespace.close();
    if (existsSync(group)) rmdirSync(group);
    rmSync(folder, { recursive: true });
  }
});

test('EBPF-63 TRAFFIC-9 the metric and the list of Services have the connections of sockets', async () => {
  const network = new TestNetwork(['10.244.1.1' as Ip]);
  const { namespace } = network;
  const configuration = { ...defaultConfiguration(), mode: 'ebpf' };
  const configured = configuredMode(configuration, { countConnections: true });
  const socketScope = {
    cgroupRoot: testControlGroup(),
    bpffs: '/nowhere',
    listedNamespaces: [namespaceCookie(namespace)],
  };
  const harness = new ModeHarness(events => createMode(configured, FAMILIES, { namespace, events, socketScope }), {
    families: FAMILIES,
  });
  try {
    harness.set(service('web', { clusterIP: '10.96.0.10' }), slice('web-1', ['10.244.1.1']));
    await harness.sync();
    for (let i = 0; i < 3; i++) assert.equal(network.ask('10.96.0.10' as Ip, 80), '10.244.1.1:8080');
    assert.deepEqual([...((await harness.mode.connectionCounts?.()) ?? [])], [['default/web', 3]]);
    const metrics = new MetricSet();
    registerTraffic(metrics, new TrafficReader(harness.mode, systemClock));
    const name = 'pointsman_service_connections_total{ip_family="IPv4",port="",service="default/web"}';
    const text = await metrics.text();
    assert.ok(text.includes(`${name} 3\n`), text);
    const open = new TestSocket(namespace, 'IPv4');
    assert.equal(open.connect('10.96.0.10' as Ip, 80), 'connected');
    const [traffic] = (await harness.mode.traffic?.()) ?? [];
    assert.deepEqual([traffic?.connections, traffic?.active], [4, 1]);
    assert.deepEqual([...(traffic?.endpoints ?? [])], [['10.244.1.1:8080', { active: 1 }]]);
    open.close();
  } finally {
    await harness.close();
    network.close();
  }
});
