import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { readSysctl } from '../../kernel/sysctl.ts';
import type { Ip } from '../../net/index.ts';
import { Cluster } from './cluster.ts';
import { EchoServer } from './echo.ts';
import { probe } from './probe.ts';

const POD = '10.244.1.2' as Ip;
const POD6 = 'fd00:10:244:1::2' as Ip;
const REMOTE = '10.244.2.3' as Ip;
const REMOTE6 = 'fd00:10:244:3::4' as Ip;

describe('cluster', () => {
  let cluster: Cluster;
  before(() => {
    cluster = Cluster.create();
  });
  after(() => cluster.close());

  /** The address that the endpoint sees as its caller, or how the connection failed. */
  function seenAs(from: NetworkNamespace, ip: Ip): Promise<string> {
    return answer(from, ip, cluster.addPod(ip));
  }

  /** Connects to a server at `ip` in the namespace `at`. Without a namespace, there is no server. */
  async function answer(from: NetworkNamespace, ip: Ip, at?: NetworkNamespace, source?: Ip): Promise<string> {
    const server = at && (await EchoServer.start(at, ip, 80, 'TCP'));
    const { answers, failures } = await probe(from, ip, 80, 'TCP', { tries: 1, ...(source ? { source } : {}) });
    await server?.close();
    return [...answers.keys(), ...failures].map(text => text.split(' ').at(-1)).join();
  }

  test('PLAY-1 the node, other pods and other nodes reach the pods of the node, each with its own address', async () => {
    assert.equal(await seenAs(cluster.node, POD), '10.244.1.1');
    assert.equal(await seenAs(cluster.addPod('10.244.1.3' as Ip), POD), '10.244.1.3');
    assert.equal(await seenAs(cluster.host('other-node'), POD), '192.168.0.3');
    assert.equal(await seenAs(cluster.host('third-node'), POD6), 'fd00:192:168::4');
  });

  test('PLAY-1 the node and its pods reach the pods of other nodes', async () => {
    assert.equal(await seenAs(cluster.node, REMOTE), '192.168.0.2');
    assert.equal(await seenAs(cluster.addPod(POD), REMOTE), POD);
    assert.equal(await seenAs(cluster.addPod(POD6), REMOTE6), POD6);
  });

  test('PLAY-1 machines reach each other', async () => {
    assert.equal(await seenAs(cluster.host('ext'), '192.168.0.2' as Ip), '192.168.0.100');
    assert.equal(await seenAs(cluster.host('ext'), 'fd00:192:168::2' as Ip), 'fd00:192:168::100');
    assert.equal(await seenAs(cluster.node, '192.168.0.3' as Ip), '192.168.0.2');
  });

  test('PLAY-1 machines outside cannot reach pods', async () => {
    assert.equal(await seenAs(cluster.host('ext'), POD), 'ENETUNREACH');
    assert.equal(await seenAs(cluster.host('ext'), POD6), 'ENETUNREACH');
  });

  test('PLAY-3 pods may have any addresses, on the node and elsewhere', async () => {
    const options = { sendsThroughNode: true };
    for (const [own, remote] of [
      ['10.42.0.5', '10.42.1.7'],
      ['fd42::5', 'fd42:1::7'],
      // The usual placement of these addresses is the other way round.
      ['10.244.2.77', '10.244.1.77'],
    ] as const) {
      const pod = cluster.addPod(own as Ip, { kind: 'pod' }, options);
      cluster.addPod(remote as Ip, { kind: 'remote-pod', host: 'other-node' });
      assert.equal(await answer(pod, remote as Ip, cluster.host('other-node')), own);
      assert.equal(await answer(cluster.host('other-node'), own as Ip, pod, remote as Ip), remote);
      const failure = await answer(cluster.host('ext'), own as Ip, pod);
      assert.equal(failure, 'ENETUNREACH', 'machines outside cannot reach it');
    }
  });

  test('PLAY-3 machines outside send packets for any address of a Service to the node', async () => {
    for (const [ip, family] of [
      ['192.0.2.7', 'IPv4'],
      ['fd43::1', 'IPv6'],
    ] as const) {
      assert.equal(await answer(cluster.host('ext'), ip as Ip), 'ENETUNREACH');
      cluster.routeService(ip as Ip);
      cluster.routeService(ip as Ip);
      cluster.addNodeAddress(ip as Ip);
      const caller = family === 'IPv4' ? '192.168.0.100' : 'fd00:192:168::100';
      assert.equal(await answer(cluster.host('ext'), ip as Ip, cluster.node), caller);
    }
  });

  test('PLAY-3 the node cannot have the address of another machine', () => {
    assert.throws(() => cluster.addNodeAddress('192.168.0.3' as Ip), RangeError);
  });

  test('PLAY-1 a pod that is added twice exists once', () => {
    assert.equal(cluster.addPod(POD), cluster.addPod(POD));
    assert.equal(cluster.addPod(REMOTE), cluster.host('other-node'));
    assert.equal(cluster.addPod('192.168.0.2' as Ip), cluster.node);
  });

  test('PLAY-1 a new pod does not cut off the others', async () => {
    const pods = Array.from({ length: 6 }, (_, i) => `10.244.1.${10 + i}` as Ip);
    for (const [i, pod] of pods.entries()) {
      cluster.addPod(pod);
      for (const earlier of pods.slice(0, i)) assert.equal(await seenAs(cluster.addPod(earlier), REMOTE), earlier);
    }
  });

  test("PLAY-1 the bridge sends a pod's packets back to it", () => {
    cluster.addPod(POD);
    const { stdout } = cluster.node.run(() => spawnSync('bridge', ['-d', '-j', 'link', 'show'], { encoding: 'utf8' }));
    const ports: readonly { ifname: string; hairpin: boolean }[] = JSON.parse(stdout);
    assert.ok(ports.length > 0);
    assert.ok(ports.every(({ hairpin }) => hairpin));
  });

  test('PLAY-1 the node forwards packets and does not limit the rate of its rejects', () => {
    const values = ['net/ipv4/ip_forward', 'net/ipv6/conf/all/forwarding', 'net/ipv4/icmp_ratelimit'];
    assert.deepEqual(
      values.map(name => readSysctl(name, cluster.node)),
      ['1', '1', '0'],
    );
  });

  test('PLAY-1 dropped pods are gone and can be added again', async () => {
    cluster.addPod(POD);
    cluster.addPod(REMOTE);
    cluster.dropPods();
    const links = cluster.node.run(() => spawnSync('ip', ['-br', 'link'], { encoding: 'utf8' }).stdout);
    assert.doesNotMatch(links, /^v\d/m);
    const addresses = cluster.host('other-node').run(() => spawnSync('ip', ['-br', 'a'], { encoding: 'utf8' }).stdout);
    assert.doesNotMatch(addresses, /10\.244\./);
    assert.equal(await seenAs(cluster.node, POD), '10.244.1.1');
    assert.equal(await seenAs(cluster.node, REMOTE), '192.168.0.2');
  });

  test('PLAY-1 closing leaves nothing open', () => {
    const before = readdirSync('/proc/self/fd').length;
    const other = Cluster.create();
    other.addPod(POD);
    other.addPod(POD6);
    other.close();
    assert.equal(readdirSync('/proc/self/fd').length, before);
  });
});
