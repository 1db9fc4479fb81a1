import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ControlPlane } from '../control-plane/control-plane.ts';
import { NODE } from '../control-plane/node-object.ts';
import { service, slice } from '../e2e/objects.ts';
import { TestNode } from '../e2e/test-node.ts';
import { runIn } from '../support/run-in.ts';
import { type ContainerOptions, Containers } from './container.ts';
import type { ImageName } from './image-archive.ts';
import { containerOf, kubeadmObjects } from './kubeadm.ts';

const CLUSTER_IP = '10.96.7.1';
const POD_IP = '10.244.1.7';
const SYNCED_MS = 20_000;

/** What deploy/ gives the container instead of `privileged`. */
const LEAST: Partial<ContainerOptions> = { privileged: false, capabilities: ['NET_ADMIN'], readOnlyRoot: true };

describe('the image in the DaemonSet of kubeadm', () => {
  const images = new Map<ImageName, Containers>();
  let cluster: ControlPlane;
  let node: TestNode;

  before(async () => {
    for (const name of ['pointsman', 'pointsman-slim'] as const) images.set(name, new Containers(name));
    cluster = await ControlPlane.start({ apiserverArgs: ['--allow-privileged=true'] });
    node = new TestNode(cluster.namespace);
    await cluster.apply(NODE);
    await cluster.apply(service('web', CLUSTER_IP));
    await cluster.apply(slice('web-1', [POD_IP]));
    await node.addPod(POD_IP);
  });

  after(async () => {
    for (const containers of images.values()) await containers.close();
    await node?.close();
    await cluster?.close();
  });

  /** Runs the container until a connection to the Service reaches the pod, then removes its rules again. */
  async function serves(image: ImageName, mode: string, changes: Partial<ContainerOptions> = {}): Promise<string> {
    const containers = images.get(image);
    assert.ok(containers);
    for (const object of kubeadmObjects(cluster, mode)) await cluster.apply(object);
    assert.notEqual(await node.ask(CLUSTER_IP), POD_IP);
    const options = { ...(await containerOf(cluster, containers)), ...changes };
    const proxy = containers.start(options);
    try {
      await proxy.waitFor('serve', async () => (await node.ask(CLUSTER_IP)) === POD_IP, SYNCED_MS);
      await proxy.waitFor('become healthy', async () => (await node.health('/healthz')).status === 200, SYNCED_MS);
      return rulesOf(mode);
    } finally {
      await proxy.stop('SIGTERM');
      const [program = ''] = options.args;
      const cleanup = containers.run({ ...options, privileged: true, args: [program, '--cleanup'] });
      assert.equal(cleanup.status, 0, cleanup.stderr);
    }
  }

  function rulesOf(mode: string): string {
    return mode === 'nftables'
      ? runIn(cluster.namespace, 'nft', ['list', 'ruleset'])
      : runIn(cluster.namespace, 'iptables-save');
  }

  test('REL-9 kubeadm’s default mode, iptables, works with the DaemonSet as it is', async () => {
    assert.match(await serves('pointsman', ''), /-d 10\.96\.7\.1\/32 .*-j KUBE-SVC-/);
  });

  test('REL-9 iptables mode works without privileges and with a read-only file system', async () => {
    assert.match(await serves('pointsman', 'iptables', LEAST), /-d 10\.96\.7\.1\/32 .*-j KUBE-SVC-/);
  });

  test('REL-9 nftables mode works with the DaemonSet as it is', async () => {
    assert.match(await serves('pointsman', 'nftables'), /table ip kube-proxy/);
  });

  test('REL-9 nftables mode works without privileges and with a read-only file system', async () => {
    assert.match(await serves('pointsman', 'nftables', LEAST), /table ip kube-proxy/);
  });

  test('REL-7, REL-9 the slim image serves nftables mode, privileged or not', async () => {
    assert.match(await serves('pointsman-slim', 'nftables'), /table ip kube-proxy/);
    assert.match(await serves('pointsman-slim', 'nftables', LEAST), /table ip kube-proxy/);
  });

  test('REL-6 the proxy works through go-runner, and its log is in the file', async () => {
    const containers = images.get('pointsman');
    assert.ok(containers);
    for (const object of kubeadmObjects(cluster, 'nftables')) await cluster.apply(object);
    const options = await containerOf(cluster, containers);
    const logs = containers.folder('logs');
    const args = ['/go-runner', '--log-file=/var/log/kube-proxy.log', '--also-stdout', ...options.args];
    const mounts = [...(options.mounts ?? []), { source: logs, destination: '/var/log' }];
    const proxy = containers.start({ ...options, args, mounts });
    await proxy.waitFor('serve', async () => (await node.ask(CLUSTER_IP)) === POD_IP, SYNCED_MS);
    assert.match(runIn(cluster.namespace, 'cat', [`${logs}/kube-proxy.log`]), /Synced all service ports/);
    // An operator who executes a shell in the container finds the process by its name.
    assert.equal(containers.exec(['sh', '-c', 'kill -0 "$(pidof kube-proxy)"']).status, 0);
    assert.deepEqual(await proxy.stop('SIGTERM'), { status: 0, signal: null });
  });
});
