import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, describe, type TestContext, test } from 'node:test';
import { EchoServer } from '../../src/demo/playground/index.ts';
import { InstanceLock } from '../../src/kernel/instance-lock.ts';
import { readSysctl } from '../../src/kernel/sysctl.ts';
import type { Ip } from '../../src/net/index.ts';
import { NODE } from '../control-plane/node-object.ts';
import type { Program } from '../control-plane/program.ts';
import { type EventObject, eventsIn } from './cluster-events.ts';
import { service, slice } from './objects.ts';
import { ALL_SYNCED, Stage } from './stage.ts';

const UDP_TIMEOUT = 'net/netfilter/nf_conntrack_udp_timeout';
const OOM_SCORE = 321;
const POD = '10.244.1.10';

describe('the steps of a start and their order', () => {
  let stage: Stage;

  before(async () => {
    stage = await Stage.open({ nodeObject: null });
    await stage.node.addPod(POD);
  });

  afterEach(() => stage.proxy.stop());

  after(() => stage?.close());

  /** Sets only the sysctl of the namespace. The size of the table belongs to the whole machine. */
  function conntrack(udpTimeout: string) {
    return { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s', udpTimeout };
  }

  const udpTimeout = () => readSysctl(UDP_TIMEOUT, stage.cluster.namespace);
  const events = () => eventsIn(stage.cluster, 'default');

  /** Takes the lock that another proxy in this network would hold. Returns a function that releases it. */
  function holdInstance(t: TestContext): () => void {
    let { lock } = InstanceLock.take('pointsman-kube-proxy', stage.cluster.namespace);
    assert.ok(lock);
    const release = () => {
      lock?.release();
      lock = undefined;
    };
    t.after(release);
    return release;
  }

  test('E2E-35 START-1 the order is servers, API client, Node, conntrack, families, instance lock, OOM score, rules, Event', async t => {
    const { cluster, node } = stage;
    const release = holdInstance(t);
    const timeoutBefore = udpTimeout();
    await cluster.apply(service('web', '10.96.8.1'));
    await cluster.stopApiserver('SIGKILL');
    const proxy = stage.start({
      conntrack: conntrack('77s'),
      oomScoreAdj: OOM_SCORE,
      nodePortAddresses: ['192.168.0.0/24'],
    });
    await proxy.until('"Waiting for the API server"');
    assert.equal((await node.health('/livez')).status, 200);
    assert.equal((await node.metricsServer('/proxyMode')).text, 'nftables');
    await cluster.startApiserver();
    await proxy.until('"Waiting for the Node to have addresses"');
    assert.equal(udpTimeout(), timeoutBefore);
    const oomScoreBefore = oomScoreOf(proxy);

    await cluster.apply(NODE);
    await proxy.until('Another Pointsman kube-proxy runs in this network namespace');
    assert.equal(udpTimeout(), '77');
    assert.equal(oomScoreOf(proxy), oomScoreBefore);
    assert.equal(node.hasTables(), false);

    release();
    await proxy.until(ALL_SYNCED);
    assert.equal(oomScoreOf(proxy), OOM_SCORE);
    assert.ok(node.knows('10.96.8.1'));
    await stage.until('write its Event', async () => (await events()).some(({ reason }) => reason === 'Starting'));
    assertOrder(proxy, [
      '"Version info"',
      '"Waiting for the API server"',
      '"Waiting for the Node to have addresses"',
      '"Successfully retrieved NodeIPs"',
      '"Set sysctl"',
      '"kube-proxy running in dual-stack mode"',
      '"Kube-proxy configuration may be incomplete or incorrect"',
      '"Another Pointsman kube-proxy runs in this network namespace',
      '"Starting service config controller"',
      '"Synced all service ports"',
    ]);
  });

  test('E2E-25 START-1 --init-only sets sysctls, opens no server, does not wait for another instance and writes no rules', async t => {
    const { cluster } = stage;
    holdInstance(t);
    const other = await EchoServer.start(cluster.namespace, '0.0.0.0' as Ip, 10_256, 'TCP');
    t.after(() => other.close());
    const startEvents = (await events()).filter(({ reason }) => reason === 'Starting').length;
    const proxy = stage.start({ conntrack: conntrack('78s'), bindAddressHardFail: true }, { args: ['--init-only'] });
    assert.deepEqual(await proxy.exit, { status: 0, signal: null });
    assert.equal(udpTimeout(), '78');
    assert.equal((await events()).filter(({ reason }) => reason === 'Starting').length, startEvents);
  });

  test('EVENTS-27 CONF-40 a start without a mode says so in the log and as an Event of the Node', async () => {
    const notice = /^No kube-proxy mode specified: defaulting to 'iptables'\. /;
    const defaulted = async () => (await events()).filter(({ reason }) => reason === 'KubeProxyDefaultMode');
    const named = stage.start({ mode: 'iptables' });
    await named.until(ALL_SYNCED);
    await named.stop();
    assert.deepEqual(await defaulted(), [], 'the operator named the mode');
    const proxy = stage.start({ mode: '' });
    await proxy.until(/^E.*"No kube-proxy mode specified/);
    await proxy.until(ALL_SYNCED);
    await stage.until('write its Event', async () => (await defaulted()).length === 1);
    const [{ type, action, regarding, note } = assert.fail()] = await defaulted();
    assert.deepEqual([type, action, regarding.kind, regarding.name], ['Warning', 'StartKubeProxy', 'Node', 'node-a']);
    assert.match(note, notice);
  });

  for (const { port, reason, words } of [
    {
      port: 10_256,
      reason: 'FailedToStartProxierHealthcheck',
      words: 'healthz server failed: failed to start proxy healthz on',
    },
    { port: 10_249, reason: 'FailedToStartMetricServer', words: 'failed to start metrics server on' },
  ]) {
    test(`E2E-36 HEALTH-11 with bindAddressHardFail, port ${port} in use is an Event and ends the process with status 1`, async t => {
      const other = await EchoServer.start(stage.cluster.namespace, '0.0.0.0' as Ip, port, 'TCP');
      t.after(() => other.close());
      const proxy = stage.start({ bindAddressHardFail: true, metricsBindAddress: '0.0.0.0:10249' });
      assert.deepEqual(await proxy.exit, { status: 1, signal: null });
      const failed = proxy.lines.find(line => line.includes('"command failed"')) ?? '';
      assert.ok(failed.includes(`err="${words} 0.0.0.0:${port}: `), failed);
      const event = (await events()).find(event => event.reason === reason);
      assert.ok(event);
      assert.deepEqual([event.type, event.action, event.regarding.name], ['Warning', 'StartKubeProxy', 'node-a']);
      assert.ok(event.note.startsWith(`${words} 0.0.0.0:${port}: `), event.note);
    });
  }

  test('E2E-37 EVENTS-7 a service port that the mode does not support is an Event of the Service; others are served', async () => {
    const { cluster, node } = stage;
    const sctp = service('signals', '10.96.8.2', { ports: [{ name: 'sctp', port: 2905, protocol: 'SCTP' }] });
    await cluster.apply(sctp);
    await cluster.apply(slice('web-1', [POD]));
    await stage.run({ mode: 'userspace' });
    await stage.until('serve the other', async () => (await node.ask('10.96.8.1')) === POD);
    let found: EventObject | undefined;
    await stage.until('write the Event', async () => {
      found = (await events()).find(({ reason }) => reason === 'SetAside');
      return found !== undefined;
    });
    const { metadata } = (await cluster.read(sctp)) ?? {};
    assert.deepEqual([found?.type, found?.action, found?.regarding.kind], ['Warning', 'Program', 'Service']);
    assert.deepEqual([found?.regarding.name, found?.regarding.uid], ['signals', metadata?.uid]);
    assert.equal(
      found?.note,
      'node node-a could not program default/signals:sctp for IPv4: SCTP cannot be proxied in userspace mode',
    );
    assert.match(
      (await node.health('/readyz?verbose')).text,
      /set aside.*1 service port is set aside: default\/signals:sctp \(IPv4\)/,
    );
  });
});

function oomScoreOf({ pid }: Program): number {
  return Number(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'));
}

function assertOrder({ lines }: Program, wanted: readonly string[]): void {
  const logged = wanted
    .map(words => ({ words, at: lines.findIndex(line => line.includes(words)) }))
    .filter(({ at }) => at >= 0);
  assert.deepEqual(
    logged.sort((a, b) => a.at - b.at).map(({ words }) => words),
    wanted,
  );
}
