import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { parse } from 'yaml';
import { changedPaths } from './changed-paths.ts';
import { dataOf, FORMER_IMAGE, InstallCluster } from './cluster.ts';

const IMAGE = 'registry.example.com/pointsman:0.1.0';
const BEFORE = { 'node-a': [FORMER_IMAGE], 'node-b': [FORMER_IMAGE] };
const AFTER = { 'node-a': [IMAGE], 'node-b': [IMAGE] };
const NONE = { 'node-a': [], 'node-b': [] };

describe('the pages for distributions, with the objects of each', () => {
  let cluster: InstallCluster;

  beforeEach(async () => {
    cluster = await InstallCluster.start();
  });

  afterEach(() => cluster?.close());

  const objects = (name: string) => resolve(`test/install/objects/${name}.yaml`);

  function apply(name: string, manager: string): Promise<string> {
    return cluster.shell.run(`kubectl apply --server-side --field-manager=${manager} -f ${objects(name)}`);
  }

  test('INST-10 EKS: only the image changes, and the add-on of EKS cannot overwrite it silently', async () => {
    await apply('eks', 'eks');
    const former = await cluster.read('DaemonSet', 'kube-proxy');
    const configMaps = async () => [
      await cluster.read('ConfigMap', 'kube-proxy'),
      await cluster.read('ConfigMap', 'kube-proxy-config'),
    ];
    const formerMaps = await configMaps();
    await cluster.runPage('eks', 'Install on Amazon EKS', 'Replace it');
    assert.deepEqual(changedPaths(former, await cluster.read('DaemonSet', 'kube-proxy')), [
      'spec.template.spec.containers.0.image',
    ]);
    assert.deepEqual(changedPaths(formerMaps, await configMaps()), []);
    assert.deepEqual(await cluster.images(), AFTER);
    await assert.rejects(apply('eks', 'eks'), /conflict with "kubectl-set".*containers\[name="kube-proxy"\]\.image/s);

    await cluster.runPage('eks', 'Change the mode');
    assert.deepEqual(changedPaths(formerMaps, await configMaps()), ['1.data.config']);
    const { config = '' } = dataOf((await configMaps())[1]);
    assert.equal(parse(config).mode, 'nftables');
    await cluster.runPage('eks', 'Go back');
    assert.deepEqual(await cluster.images(), BEFORE);
    cluster.assertRanAll('eks');
  });

  test('INST-10 OpenShift: the chart takes the place of the operator, which may take it back', async () => {
    await apply('openshift', 'cluster-network-operator');
    await cluster.shell.run('kubectl wait crd/networks.operator.openshift.io --for=condition=Established');
    await applyNetwork();
    assert.equal(await cluster.runPage('openshift', 'Install on OpenShift'), 'true');
    const heading = "In place of the operator's kube-proxy";
    const [variables = '', install = '', swap = '', back = ''] = cluster.blocks('openshift', heading);
    await cluster.shell.run(variables.replace('CLUSTER.DOMAIN', 'example.com'));
    await cluster.shell.run(install);
    await cluster.shell.run(install);
    assert.deepEqual(await cluster.images(), BEFORE);
    await Promise.all([cluster.shell.run(swap), playTheOperator()]);
    assert.deepEqual(await cluster.images(), AFTER);
    await cluster.shell.run(back);
    assert.deepEqual(await cluster.images(), NONE);

    await apply('openshift', 'cluster-network-operator');
    const read = () => cluster.read('DaemonSet', 'openshift-kube-proxy', 'openshift-kube-proxy');
    const former = await read();
    const [trial = '', end = ''] = cluster.blocks('openshift', "A short trial in the operator's DaemonSet");
    await cluster.shell.run(trial);
    assert.deepEqual(changedPaths(former, await read()), ['spec.template.spec.containers.0.image']);
    assert.deepEqual(await cluster.images(), AFTER);
    await cluster.shell.run(end);
    cluster.assertRanAll('openshift');
  });

  function applyNetwork(): Promise<string> {
    const network = { apiVersion: 'operator.openshift.io/v1', kind: 'Network', metadata: { name: 'cluster' } };
    const object = JSON.stringify({ ...network, spec: { deployKubeProxy: true, managementState: 'Managed' } });
    return cluster.shell.run(`echo '${object}' | kubectl apply -f -`);
  }

  /** Deletes the DaemonSet when the operator should not deploy it any more. */
  async function playTheOperator(): Promise<void> {
    const deploys = "kubectl get network.operator.openshift.io cluster -o jsonpath='{.spec.deployKubeProxy}'";
    for (let turns = 0; turns < 100 && (await cluster.shell.run(deploys)) === 'true'; turns++) await delay(100);
    await cluster.shell.run('kubectl -n openshift-kube-proxy delete daemonset openshift-kube-proxy');
  }

  test('INST-10 Gardener: a trial changes the three images of a pool and nothing else', async () => {
    await apply('gardener', 'gardener-resource-manager');
    const read = () => cluster.read('DaemonSet', 'kube-proxy-worker-v1.36.4');
    const former = await read();
    await cluster.runPage('gardener', 'Install with Gardener', 'A short trial in a shoot');
    assert.deepEqual(changedPaths(former, await read()), [
      'spec.template.spec.containers.0.image',
      'spec.template.spec.initContainers.0.image',
      'spec.template.spec.initContainers.1.image',
    ]);
    assert.deepEqual(await cluster.images(), AFTER);
    cluster.assertRanAll('gardener');
  });

  test('INST-11 kops: the manifest of a node keeps everything but the image, and the chart waits for labels', async () => {
    const folder = `${cluster.shell.folder}/etc/kubernetes/manifests`;
    const manifest = `${folder}/kube-proxy.manifest`;
    mkdirSync(folder, { recursive: true });
    const former = readFileSync(objects('kops'), 'utf8');
    writeFileSync(manifest, former);
    await cluster.runPage('kops', 'Try it on one node');
    const now = readFileSync(manifest, 'utf8');
    assert.deepEqual(changedPaths(parse(former), parse(now)), ['spec.containers.0.image']);
    assert.equal(parse(now).spec.containers[0].image, IMAGE);
    await cluster.shell.run(`kubectl create -f ${manifest}`);

    const [install = ''] = cluster.blocks('kops', 'Install it');
    await cluster.shell.run(install.replace('CLUSTER', 'example.com'));
    assert.deepEqual(await cluster.images(), NONE);
    await cluster.shell.run('kubectl label node node-b kube-proxy=pointsman');
    assert.deepEqual(await cluster.images(), { 'node-a': [], 'node-b': [IMAGE] });
    assert.match(await cluster.runPage('kops', 'Verify'), /^node-b +registry\.example\.com\/pointsman:0\.1\.0$/m);
    await cluster.runPage('kops', 'Go back');
    assert.deepEqual(await cluster.images(), NONE);
    cluster.assertRanAll('kops');
  });

  test('INST-11 RKE2: one file names the image, and the pod that RKE2 makes of it is accepted', async () => {
    await cluster.runPage('rke2', 'Install on RKE2', 'Replace it on a node');
    const file = `${cluster.shell.folder}/etc/rancher/rke2/config.yaml.d/90-pointsman.yaml`;
    const { 'kube-proxy-image': image } = parse(readFileSync(file, 'utf8'));
    assert.equal(image, IMAGE);
    await cluster.shell.run(`sed 's#IMAGE#${image}#' ${objects('rke2')} | kubectl create -f -`);
    assert.match(await cluster.runPage('rke2', 'Verify'), /^node-a +registry\.example\.com\/pointsman:0\.1\.0$/m);
    await cluster.runPage('rke2', 'Go back');
    assert.ok(!existsSync(file));
    cluster.assertRanAll('rke2');
  });

  test('INST-11 k3s: the chart waits for the label of a node, and then for none', async () => {
    await cluster.runPage('k3s', 'Install on k3s', 'Prepare the DaemonSet');
    assert.deepEqual(await cluster.images(), NONE);
    const [disable = '', one = '', all = ''] = cluster.blocks('k3s', 'Turn the kube-proxy inside k3s off');
    await cluster.shell.run(disable);
    const file = `${cluster.shell.folder}/etc/rancher/k3s/config.yaml.d/90-pointsman.yaml`;
    assert.deepEqual(parse(readFileSync(file, 'utf8')), { 'disable-kube-proxy': true });
    await cluster.shell.run(one);
    assert.deepEqual(await cluster.images(), { 'node-a': [IMAGE], 'node-b': [] });
    await cluster.shell.run(all);
    assert.deepEqual(await cluster.images(), AFTER);
    await cluster.shell.run('kubectl label nodes --all kube-proxy-');
    assert.deepEqual(await cluster.images(), AFTER);
    await cluster.runPage('k3s', 'Go back');
    assert.deepEqual(await cluster.images(), NONE);
    assert.ok(!existsSync(file));
    cluster.assertRanAll('k3s');
  });
});
