import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LOOPBACK, type LocalhostNode, withLocalhostNode } from '../../../../test/support/localhost-node.ts';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { modeSettingsFor } from '../../../../test/support/mode-harness.ts';
import { NODE_IP } from '../../../../test/support/namespaces.ts';
import { service, slice } from '../../../../test/support/objects.ts';
import { waitFor } from '../../../../test/support/wait-for.ts';
import { probe } from '../../../demo/playground/index.ts';
import { bindUdp, listenTcp } from '../../../kernel/sockets/index.ts';
import { parseNodePortAddresses } from '../../../model/index.ts';
import { FAMILIES, type Ip } from '../../../net/index.ts';
import { MetricSet } from '../../../observe/metrics/index.ts';
import { planId } from '../../../plan/index.ts';
import { PlanBook } from '../../plan-book.ts';
import { openRelay } from '../../relay/index.ts';
import { setAsideName } from '../../set-aside.ts';
import { previewNftables } from '../preview.ts';
import { LocalhostListeners } from './localhost-listeners.ts';

const POD = '10.244.1.10';
const POD6 = 'fd00:10:244:1::10';
const LOCALHOST = { IPv4: '127.0.0.1' as Ip, IPv6: '::1' as Ip };

const web = (name: string, nodePort: number, isV6 = false) =>
  service(name, {
    type: 'NodePort',
    clusterIP: isV6 ? `fd00:10:96::${nodePort - 30_000}` : `10.96.0.${nodePort - 30_000}`,
    ports: [{ name: 'http', nodePort }],
  });
const http = [{ name: 'http', protocol: 'TCP', port: 8080 }] as const;

async function ask(node: LocalhostNode, port: number, ip: Ip = LOCALHOST.IPv4): Promise<string> {
  const { answers, failures } = await probe(node.namespace, ip, port, 'TCP', { tries: 1, timeoutMs: 3000 });
  return [...Array.from(answers.keys(), answer => answer.split(' ')[0] ?? ''), ...failures].join(' ');
}

/** Another program that listens at a port of 127.0.0.1, or of all addresses. Returns what ends it. */
async function takePort(node: LocalhostNode, port: number, ip: string = LOCALHOST.IPv4): Promise<() => Promise<void>> {
  const server = await listenTcp(node.namespace, ip as Ip, port, connection => connection.end('another program'));
  const close = () => new Promise<void>(resolve => server.close(() => resolve()));
  node.onClose(close);
  return close;
}

describe('a node port at loopback that another program has', () => {
  for (const family of FAMILIES) {
    for (const everywhere of [false, true]) {
      const [loopback, any] = family === 'IPv4' ? ['127.0.0.1', '0.0.0.0'] : ['::1', '::'];
      const at = everywhere ? any : loopback;
      test(`NFT-53 only that port is set aside if another program listens at ${at}, and the rules stay`, () =>
        withLocalhostNode(async node => {
          const isV6 = family === 'IPv6';
          const pod = isV6 ? POD6 : POD;
          await node.addPod(pod);
          const giveUp = await takePort(node, 30_080, at);
          const mode = node.start(family, [...LOOPBACK, `${NODE_IP}/32`, 'fd00:192:168::2/128']);
          mode.set(web('taken', 30_080, isV6), slice('taken-1', [pod], { ports: http }));
          mode.set(web('free', 30_081, isV6), slice('free-1', [pod], { ports: http }));
          await mode.sync();
          assert.deepEqual(mode.events.setAsideLines, ['default/taken:http EADDRINUSE']);
          const place = isV6 ? '[::1]:30080' : '127.0.0.1:30080';
          const [aside] = mode.setAside();
          assert.ok(aside?.cause.message.includes(place), aside?.cause.message);
          assert.ok(aside?.cause.message.endsWith('another program has it'), aside?.cause.message);
          assert.equal(await ask(node, 30_080, LOCALHOST[family]), 'another');
          assert.equal(await ask(node, 30_081, LOCALHOST[family]), pod);
          assert.equal(await ask(node, 30_080, isV6 ? ('fd00:192:168::2' as Ip) : NODE_IP), pod);
          mode.set(web('more', 30_082, isV6));
          await mode.sync();
          assert.equal(mode.events.setAsides.length, 1, 'the mode reports it once');
          await giveUp();
          mode.set(web('most', 30_083, isV6));
          await mode.sync();
          assert.deepEqual(mode.setAside(), []);
          assert.equal(await ask(node, 30_080, LOCALHOST[family]), pod);
        }));
    }
  }

  test('NFT-53 the mode retries without any change, after a second at first and then more and more rarely', () =>
    withLocalhostNode(async node => {
      await node.addPod(POD);
      const clock = new ManualClock();
      const giveUp = await takePort(node, 30_080);
      const mode = node.start('IPv4', undefined, { clock });
      mode.set(web('web', 30_080), slice('web-1', [POD], { ports: http }));
      await mode.sync();
      const metrics = new MetricSet();
      mode.mode.registerMetrics(metrics);
      const failures = async () => Number(/creation_failures_total\{.*\} (\d+)/.exec(await metrics.text())?.[1]);
      for (const [attempt, seconds] of [1, 2, 4, 8, 16, 30, 30].entries()) {
        await clock.advance(seconds * 1000 - 1);
        await mode.mode.settle();
        assert.equal(await failures(), attempt + 1);
        await clock.advance(1);
        await mode.mode.settle();
        assert.equal(await failures(), attempt + 2);
      }
      assert.equal(mode.events.setAsides.length, 1, 'the mode reports it once');
      await giveUp();
      await clock.advance(30_000);
      await waitFor('the listener', () => mode.setAside().length === 0);
      assert.equal(await ask(node, 30_080), POD);
    }));

  test('NFT-53 a retry closes no other listener after a full write that failed half way', () =>
    withLocalhostNode(async node => {
      await node.addPod(POD);
      await takePort(node, 30_080);
      const mode = node.start();
      mode.set(web('taken', 30_080), slice('taken-1', [POD], { ports: http }));
      mode.set(web('free', 30_081), slice('free-1', [POD], { ports: http }));
      const plans = mode.plans();
      const clock = new ManualClock();
      const relay = openRelay({ udpIdleTimeoutMs: 1000 }, node.namespace, clock, { failed: () => {} });
      const book = new PlanBook('IPv4');
      book.take({ added: plans, updated: [], removed: [] });
      const seen: string[] = [];
      const listeners = new LocalhostListeners({
        family: 'IPv4',
        resources: relay.resources,
        clock,
        book,
        events: { listener: (_family, { kind, port }) => seen.push(`${kind} ${port}`) },
        turn: work => work(),
      });
      node.onClose(() => {
        listeners.close();
        relay.close();
      });
      const write = () => listeners.take(plans.map(plan => ({ id: planId(plan), from: undefined, to: plan })));
      listeners.begin(true);
      write();
      listeners.sync();
      listeners.begin(true);
      await clock.advance(1000);
      assert.deepEqual(seen, ['opened 30081']);
      assert.equal(await ask(node, 30_081), POD);
      listeners.begin(true);
      write();
      listeners.sync();
      assert.deepEqual(seen, ['opened 30081']);
      assert.equal(listeners.counts?.failures, 2);
    }));

  test('NFT-53 listeners leave descriptors for the rest of the process', () =>
    withLocalhostNode(async node => {
      await node.addPod(POD);
      const mode = node.start('IPv4', undefined, { relay: { maxDescriptors: 2 } });
      mode.set(...[30_081, 30_082, 30_083].map(port => web(`web${port}`, port)));
      mode.set(...[30_081, 30_082, 30_083].map(port => slice(`web${port}-1`, [POD], { ports: http })));
      await mode.sync();
      const [aside, ...others] = mode.setAside();
      assert.deepEqual(others, []);
      assert.match(aside?.cause.message ?? '', /EMFILE: all 2 descriptors for proxying are in use; raise the limit/);
      mode.deleteService('default/web30081');
      await mode.sync();
      assert.deepEqual(mode.setAside(), []);
    }));

  test('NFT-53 a taken port is the problem of the Service that has it now', () =>
    withLocalhostNode(async node => {
      await node.addPod(POD);
      await takePort(node, 30_080);
      const mode = node.start();
      mode.set(web('a', 30_080), slice('a-1', [POD], { ports: http }));
      mode.set(web('b', 30_081), slice('b-1', [POD], { ports: http }));
      await mode.sync();
      assert.deepEqual(mode.setAside().map(setAsideName), ['default/a:http']);
      for (const key of ['default/a', 'default/b']) mode.deleteService(key);
      mode.set(web('a', 30_081), web('b', 30_080));
      await mode.sync();
      assert.deepEqual(mode.setAside().map(setAsideName), ['default/b:http']);
      assert.equal(await ask(node, 30_081), POD);
    }));

  test('NFT-53 a UDP port is set aside, and a Service that gives its node port up no longer is', () =>
    withLocalhostNode(async node => {
      await node.addPod(POD);
      const other = bindUdp(node.namespace, LOCALHOST.IPv4, 30_053);
      node.onClose(() => other.close());
      const mode = node.start();
      const ports = [{ name: '', protocol: 'UDP', port: 8080 }] as const;
      const dns = service('dns', { type: 'NodePort', ports: [{ protocol: 'UDP', port: 53, nodePort: 30_053 }] });
      mode.set(dns, slice('dns-1', [POD], { ports }));
      await mode.sync();
      assert.deepEqual(mode.events.setAsideLines, ['default/dns EADDRINUSE']);
      mode.set(service('dns', { ports: [{ protocol: 'UDP', port: 53 }] }));
      await mode.sync();
      assert.deepEqual(mode.setAside(), []);
    }));
});

describe('what an operator sees of node ports at loopback', () => {
  const metricsOf = async (metrics: MetricSet) => (await metrics.text()).split('\n').filter(line => line !== '');

  test('METRICS-44 listeners and failures are shown as upstream shows them', () =>
    withLocalhostNode(async node => {
      await node.addPod(POD);
      await takePort(node, 30_080);
      const mode = node.start();
      const metrics = new MetricSet();
      mode.mode.registerMetrics(metrics);
      mode.set(web('a', 30_081), slice('a-1', [POD], { ports: http }), web('empty', 30_082));
      await mode.sync();
      const shown = async () => (await metricsOf(metrics)).filter(line => line.includes('localhost'));
      assert.deepEqual(await shown(), [
        '# HELP kubeproxy_nftables_localhost_nodeport_listener_creation_failures_total [ALPHA] Number of localhost NodePort userspace proxy listener creation failures.',
        '# TYPE kubeproxy_nftables_localhost_nodeport_listener_creation_failures_total counter',
        'kubeproxy_nftables_localhost_nodeport_listener_creation_failures_total{ip_family="IPv4"} 0',
        '# HELP kubeproxy_nftables_localhost_nodeport_listeners [ALPHA] Number of active localhost NodePort userspace proxy listeners.',
        '# TYPE kubeproxy_nftables_localhost_nodeport_listeners gauge',
        'kubeproxy_nftables_localhost_nodeport_listeners{ip_family="IPv4"} 1',
        '# HELP kubeproxy_nftables_localhost_nodeport_rejected_packets_total [ALPHA] Number of packets rejected on localhost NodePorts. UDP and SCTP are always rejected; TCP is rejected when the localhost NodePort proxy is not running',
        '# TYPE kubeproxy_nftables_localhost_nodeport_rejected_packets_total counter',
        'kubeproxy_nftables_localhost_nodeport_rejected_packets_total{ip_family="IPv4",protocol="TCP"} 0',
        'kubeproxy_nftables_localhost_nodeport_rejected_packets_total{ip_family="IPv4",protocol="UDP"} 0',
        'kubeproxy_nftables_localhost_nodeport_rejected_packets_total{ip_family="IPv4",protocol="SCTP"} 0',
      ]);
      mode.set(web('b', 30_080), slice('b-1', [POD], { ports: http }));
      await mode.sync();
      mode.set(web('c', 30_083));
      await mode.sync();
      const failures = (await shown()).find(line => line.includes('failures_total{'));
      assert.equal(failures?.endsWith(' 2'), true, failures);
    }));

  test('METRICS-44 rejected packets are counted, and there are no listeners where loopback is not listed', () =>
    withLocalhostNode(async node => {
      await node.addPod(POD);
      const mode = node.start('IPv4', [`${NODE_IP}/32`]);
      const metrics = new MetricSet();
      mode.mode.registerMetrics(metrics);
      mode.set(web('a', 30_081), slice('a-1', [POD], { ports: http }));
      await mode.sync();
      assert.equal(await ask(node, 30_081), 'refused');
      const lines = (await metricsOf(metrics)).filter(line => /^kubeproxy_nftables_localhost/.test(line));
      const name = 'kubeproxy_nftables_localhost_nodeport_rejected_packets_total';
      assert.equal(lines.length, 3, lines.join('\n'));
      assert.match(lines.find(line => line.includes('"TCP"')) ?? '', new RegExp(`^${name}.* [12]$`));
    }));

  test('METRICS-44 without the feature gate there are no such metrics', () =>
    withLocalhostNode(async node => {
      const mode = node.start('IPv4', LOOPBACK, { localhostNodePorts: false });
      const metrics = new MetricSet();
      mode.mode.registerMetrics(metrics);
      await mode.sync();
      assert.doesNotMatch(await metrics.text(), /localhost/);
    }));

  test('NFT-55 previews list the listeners, and those at whose port no process listens', () =>
    withLocalhostNode(async node => {
      await node.addPod(POD);
      const { namespace } = node;
      const mode = node.start();
      mode.set(web('a', 30_081), slice('a-1', [POD], { ports: http }));
      await mode.sync();
      mode.set(web('b', 30_082), slice('b-1', [POD], { ports: http }), web('empty', 30_083));
      const settings = modeSettingsFor('IPv4', { nodePortAddresses: parseNodePortAddresses('IPv4', LOOPBACK) });
      const preview = async (against: 'nothing' | 'kernel', localhostNodePorts = true) => {
        const input = { family: 'IPv4', plans: mode.plans(), settings, against, namespace } as const;
        return (await previewNftables({ localhostNodePorts }, input)).split('\n').filter(line => /listen/.test(line));
      };
      const header = '# listeners of the kube-proxy process';
      const [a, b] = [
        `# listen tcp 127.0.0.1:30081 for default/a:http: ${POD}:8080`,
        `# listen tcp 127.0.0.1:30082 for default/b:http: ${POD}:8080`,
      ];
      assert.deepEqual(await preview('nothing'), [header, a, b]);
      assert.deepEqual(await preview('kernel'), [header, b]);
      assert.deepEqual(await preview('nothing', false), []);
    }));
});
