import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { kubeconfigText } from '../control-plane/users.ts';
import { KubeconfigFolder } from '../support/kubeconfig.ts';
import { service, slice } from './objects.ts';
import { Relay } from './relay.ts';
import { ALL_SYNCED, Stage } from './stage.ts';

const IP = '10.96.2.1';
const POD_A = '10.244.1.20';
const POD_B = '10.244.1.21';
/** The time in which the proxy must recover after two failures in a row, with its back-off. */
const RECOVERY_MS = 15_000;
const FOLLOWED_AGAIN = '"The resource is watched again" where="/apis/discovery.k8s.io/v1/endpointslices"';
/** Silent connections are given up after two seconds rather than 45. */
const SHORT_TIMEOUTS = { HTTP2_READ_IDLE_TIMEOUT_SECONDS: '1', HTTP2_PING_TIMEOUT_SECONDS: '1' };

describe('the network between the proxy and the API server fails', () => {
  let stage: Stage;
  let relay: Relay;
  const files = new KubeconfigFolder();

  before(async () => {
    stage = await Stage.open();
    await stage.node.addPod(POD_A);
    await stage.node.addPod(POD_B);
    relay = await Relay.open(stage.cluster.namespace);
  });

  beforeEach(async () => {
    relay.pass();
    await stage.cluster.apply(service('web', IP));
    await stage.cluster.apply(slice('web-1', [POD_A]));
  });

  afterEach(() => stage.proxy.stop());

  after(async () => {
    relay?.close();
    files.close();
    await stage?.close();
  });

  /** Starts a proxy that reaches the API server through the relay. */
  function start(env: Readonly<Record<string, string>> = SHORT_TIMEOUTS) {
    const { ca } = stage.cluster;
    const kubeconfig = JSON.parse(kubeconfigText('proxy', relay.url, ca));
    kubeconfig.clusters[0].cluster['tls-server-name'] = 'localhost';
    const path = files.write('relayed', JSON.stringify(kubeconfig));
    return stage.start({ clientConnection: { kubeconfig: path } }, { env });
  }

  async function run(env?: Readonly<Record<string, string>>) {
    const proxy = start(env);
    await proxy.until(ALL_SYNCED);
    return proxy;
  }

  test('E2E-9 a watch that is cut continues where it was, and the proxy logs nothing', async () => {
    const proxy = await run();
    await delay(1100);
    relay.cut();
    await stage.cluster.apply(slice('web-1', [POD_B]));
    await stage.untilEndpoints(IP, [POD_B], RECOVERY_MS);
    assert.deepEqual(
      proxy.lines.filter(line => line.includes('Could not watch a resource')),
      [],
    );
  });

  test('E2E-10 without a connection the rules stay and the proxy logs it once; afterwards the kernel agrees with the objects', async () => {
    const { cluster, node } = stage;
    const gone = service('gone', '10.96.2.2');
    await cluster.apply(gone);
    const proxy = await run();
    await stage.until('know gone', () => node.knows('10.96.2.2'));
    relay.refuse();
    await proxy.until(
      /Could not watch a resource.*the API server 127.0.0.1:16443 closed the connection .*endpointslices/,
    );
    await cluster.apply(slice('web-1', [POD_B]));
    await cluster.delete(gone);
    await cluster.apply(service('new', '10.96.2.3'));
    await delay(2000);
    assert.deepEqual(node.endpointsOf(IP), [POD_A]);
    assert.equal(await node.ask(IP), POD_A);
    assert.equal((await node.health('/healthz')).status, 200);
    relay.pass();
    await proxy.until(FOLLOWED_AGAIN, { timeoutMs: RECOVERY_MS });
    await stage.untilEndpoints(IP, [POD_B], RECOVERY_MS);
    await stage.until('know new and not gone', () => node.knows('10.96.2.3') && !node.knows('10.96.2.2'), RECOVERY_MS);
    const logged = proxy.lines.filter(line => /Could not watch a resource.*endpointslices/.test(line));
    assert.equal(logged.length, 1, logged.join('\n'));
  });

  test('E2E-11 if the server has forgotten the version of a watch, the proxy lists again and removes what was deleted', async () => {
    const { cluster, node } = stage;
    const gone = service('gone', '10.96.2.2');
    await cluster.apply(gone);
    const proxy = await run({});
    await stage.until('know gone', () => node.knows('10.96.2.2'));
    relay.stall();
    await cluster.apply(slice('web-1', [POD_B]));
    await cluster.delete(gone);
    await cluster.compact();
    await cluster.stopApiserver('SIGKILL');
    await cluster.startApiserver();
    assert.ok(node.knows('10.96.2.2'));
    relay.cut();
    await stage.untilEndpoints(IP, [POD_B], RECOVERY_MS);
    await stage.until('forget gone', () => !node.knows('10.96.2.2'), RECOVERY_MS);
    assert.equal(proxy.hasEnded, false);
  });

  test('E2E-12 the proxy closes a silent connection and logs it, and then receives the change that it missed', async () => {
    const proxy = await run();
    relay.stall();
    await stage.cluster.apply(slice('web-1', [POD_B]));
    await proxy.until(/Could not watch a resource.*has not answered for 2 s: the connection is given up/);
    await proxy.until(FOLLOWED_AGAIN);
    await stage.untilEndpoints(IP, [POD_B], RECOVERY_MS);
  });

  test('E2E-13 the proxy ignores a list that breaks off and lists again; a watch that breaks off inside an event continues before it', async () => {
    const { cluster, node } = stage;
    for (let index = 0; index < 20; index++) {
      const { metadata, ...rest } = service(`large-${index}`, `10.96.3.${index}`);
      await cluster.apply({ ...rest, metadata: { ...metadata, annotations: { text: 'x'.repeat(20_000) } } });
    }
    const first = await run();
    await stage.until('know all', () => node.knows('10.96.3.19'));
    await first.stop();

    relay.cutAfter(100_000);
    const connections = relay.connections;
    const second = start();
    await second.until(/Could not watch a resource.*was closed before the answer was complete/);
    assert.ok(node.knows('10.96.3.0') && node.knows('10.96.3.19'));
    await second.until('"Synced all service ports" ipFamily="IPv4"');
    assert.ok(relay.connections > connections + 1);
    assert.ok(node.knows('10.96.3.0') && node.knows('10.96.3.19'));

    const before = relay.connections;
    relay.cutAfter(50_000);
    for (let index = 0; index < 20; index++) await cluster.delete(service(`large-${index}`));
    await stage.until(
      'forget all',
      () => !node.clusterIPs('IPv4').some(key => key.startsWith('10.96.3.')),
      RECOVERY_MS,
    );
    assert.ok(relay.connections > before);
  });

  test('E2E-14 a slow network only delays changes', async () => {
    relay.delay(400);
    const proxy = await run();
    await stage.cluster.apply(slice('web-1', [POD_B]));
    await stage.untilEndpoints(IP, [POD_B]);
    assert.deepEqual(
      proxy.lines.filter(line => line.includes('Could not watch a resource')),
      [],
    );
  });
});
