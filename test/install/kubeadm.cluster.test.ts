import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { KubeObject } from '../control-plane/objects.ts';
import { changedPaths } from './changed-paths.ts';
import { FORMER_IMAGE, InstallCluster } from './cluster.ts';

const IMAGE = 'registry.example.com/pointsman:0.1.0';
const PAGE = 'kubeadm';
const IMAGE_FIELD = 'spec.template.spec.containers.0.image';
const COPY_CHANGES = [
  'metadata.labels.k8s-app',
  'metadata.name',
  'spec.selector.matchLabels.k8s-app',
  'spec.template.metadata.labels.k8s-app',
  'spec.template.spec.affinity',
  IMAGE_FIELD,
  'spec.template.spec.nodeSelector.kube-proxy',
];
const BEGIN = ['Install in a kubeadm cluster', 'Check before you begin'];

describe('the page for kubeadm, with the objects that kubeadm makes', () => {
  let cluster: InstallCluster;

  before(async () => {
    cluster = await InstallCluster.start();
    await cluster.installWithKubeadm();
    await cluster.runPage(PAGE, ...BEGIN);
  });

  after(() => cluster?.close());

  /** Every object of the cluster's kube-proxy. */
  async function objects(): Promise<Readonly<Record<string, KubeObject | undefined>>> {
    return {
      daemonSet: await cluster.read('DaemonSet', 'kube-proxy'),
      configMap: await cluster.read('ConfigMap', 'kube-proxy'),
      serviceAccount: await cluster.read('ServiceAccount', 'kube-proxy'),
      binding: await cluster.read('ClusterRoleBinding', 'kubeadm:node-proxier'),
    };
  }

  /** Runs the work, and returns the fields of the cluster's objects that it changed. */
  async function changesOf(work: () => Promise<unknown>): Promise<readonly string[]> {
    const former = await objects();
    await work();
    return changedPaths(former, await objects());
  }

  async function changesOfTheCopy(): Promise<readonly string[]> {
    const original = await cluster.read('DaemonSet', 'kube-proxy');
    const changes = changedPaths(original, await cluster.read('DaemonSet', 'kube-proxy-pointsman'));
    return changes.filter(path => !/^metadata\.(uid|creationTimestamp)$/.test(path));
  }

  test('INST-1 the page keeps the configuration, which our program accepts, and the former image', async () => {
    assert.match(await cluster.shell.run('cat result.conf'), /^clusterCIDR: 10\.244\.0\.0\/16$/m);
    assert.equal(await cluster.shell.run('echo "$FORMER"'), `${FORMER_IMAGE}\n`);
    assert.match(await cluster.shell.run('cat config.conf'), /^kind: KubeProxyConfiguration$/m);
  });

  test('INST-1 the image is the only field that the replacement changes, and the way back restores it', async () => {
    const former = await objects();
    const changes = await changesOf(() => cluster.runPage(PAGE, 'Replace it on every node'));
    assert.deepEqual(changes, [`daemonSet.${IMAGE_FIELD}`]);
    assert.deepEqual(await cluster.images(), { 'node-a': [IMAGE], 'node-b': [IMAGE] });
    assert.deepEqual(await changesOf(() => cluster.runPage(PAGE, 'Replace it on every node')), []);

    await cluster.runPage(PAGE, 'Go back');
    // The last command of the section takes the last change back, and that was the way back.
    assert.deepEqual(await cluster.images(), { 'node-a': [IMAGE], 'node-b': [IMAGE] });
    await cluster.shell.run('kubectl -n kube-system set image daemonset/kube-proxy kube-proxy="$FORMER"');
    assert.deepEqual(changedPaths(former, await objects()), []);
    assert.deepEqual(await cluster.images(), { 'node-a': [FORMER_IMAGE], 'node-b': [FORMER_IMAGE] });
  });

  test('INST-2 with OnDelete, only the node whose pod was deleted runs the new image', async () => {
    const former = await objects();
    const [begin = '', finish = ''] = cluster.blocks(PAGE, 'Try it on one node');
    await cluster.shell.run(begin);
    assert.deepEqual(await cluster.images(), { 'node-a': [IMAGE], 'node-b': [FORMER_IMAGE] });
    await cluster.shell.run(finish);
    assert.deepEqual(await cluster.images(), { 'node-a': [IMAGE], 'node-b': [IMAGE] });
    await cluster.shell.run('kubectl -n kube-system set image daemonset/kube-proxy kube-proxy="$FORMER"');
    assert.deepEqual(changedPaths(former, await objects()), []);
  });

  test('INST-2 with a second DaemonSet, exactly one proxy runs on each node, and a label decides which', async () => {
    const former = await objects();
    const [keepAway = '', copy = '', label = ''] = cluster.blocks(PAGE, 'Run both for some days');
    await cluster.shell.run(keepAway);
    await cluster.shell.run(copy);
    assert.deepEqual(await changesOfTheCopy(), COPY_CHANGES);
    assert.deepEqual(await cluster.images(), { 'node-a': [FORMER_IMAGE], 'node-b': [FORMER_IMAGE] });
    await cluster.shell.run(label);
    assert.deepEqual(await cluster.images(), { 'node-a': [IMAGE], 'node-b': [FORMER_IMAGE] });
    assert.match(await cluster.runPage(PAGE, 'Verify'), /^node-a +registry\.example\.com\/pointsman:0\.1\.0$/m);
    // The second run finds everything as it should be.
    await cluster.shell.run(keepAway);
    await cluster.shell.run('kubectl apply -f kube-proxy-pointsman.yaml');
    assert.deepEqual(await cluster.images(), { 'node-a': [IMAGE], 'node-b': [FORMER_IMAGE] });
    await cluster.runPage(PAGE, 'End the trial');
    assert.deepEqual(await cluster.images(), { 'node-a': [FORMER_IMAGE], 'node-b': [FORMER_IMAGE] });
    assert.deepEqual(changedPaths(former, await objects()), []);
  });

  test('INST-3 kubeadm writes its own image again, keeps the ConfigMap, and the replacement works again', async () => {
    await cluster.runPage(PAGE, 'Replace it on every node');
    const changes = await changesOf(() => cluster.installWithKubeadm());
    assert.deepEqual(changes, [`daemonSet.${IMAGE_FIELD}`]);
    await cluster.runPage(PAGE, 'Replace it on every node');
    assert.deepEqual(await cluster.images(), { 'node-a': [IMAGE], 'node-b': [IMAGE] });
  });

  test('INST-3 an upgrade with kubeadm has a phase for kube-proxy that can be left out', async () => {
    const help = await cluster.shell.run('kubeadm upgrade apply --help');
    assert.match(help, /^addon .*\n(?: {2}\/.*\n)* {2}\/kube-proxy /m);
    assert.match(help, /--skip-phases/);
  });

  test('INST-4 these tests ran every block of the page', () => {
    cluster.assertRanAll(PAGE);
  });
});
