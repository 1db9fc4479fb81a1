import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, afterEach, before, describe, test } from 'node:test';
import type { KubeObject } from '../control-plane/objects.ts';
import { tokenFile } from '../control-plane/users.ts';
import { certificates } from '../support/certificates.ts';
import { base64, KubeconfigFolder } from '../support/kubeconfig.ts';
import { nft } from '../support/nftables-mode.ts';
import { eventsIn } from './cluster-events.ts';
import { deployedObjects } from './deployed-objects.ts';
import { service } from './objects.ts';
import { ALL_SYNCED, Stage } from './stage.ts';

const NODES_FOLLOWED_AGAIN = '"The resource is watched again" where="/api/v1/nodes"';

describe('who may speak to the API server', () => {
  let stage: Stage;
  const files = new KubeconfigFolder();
  const tokens = files.write('tokens.csv', tokenFile());

  before(async () => {
    stage = await Stage.open({ apiserverArgs: [`--token-auth-file=${tokens}`] });
  });

  afterEach(() => stage.proxy.stop());

  after(async () => {
    files.close();
    await stage?.close();
  });

  /** A proxy with these fields of its kubeconfig's cluster and user. */
  function start(cluster: object = {}, user: object = { token: 'proxy-token' }) {
    const { server, ca } = stage.cluster;
    const path = files.kubeconfig({ server, 'certificate-authority-data': base64(ca), ...cluster }, user);
    return stage.start({ clientConnection: { kubeconfig: path } });
  }

  test('E2E-15 a token file with a wrong token is told as such; with the right one all goes on, without a restart', async () => {
    const path = files.write('token', 'wrong-token');
    const proxy = start({}, { tokenFile: path });
    await proxy.until(/Could not watch a resource.*Unauthorized.*"\/api\/v1\/nodes"/);
    writeFileSync(path, 'proxy-token\n');
    await proxy.until(NODES_FOLLOWED_AGAIN);
    await proxy.until(ALL_SYNCED);

    // As when a token expires: the server knows it no longer.
    writeFileSync(tokens, tokenFile().replace('proxy-token', 'fresh-token'));
    await stage.cluster.stopApiserver('SIGKILL');
    await stage.cluster.startApiserver();
    const told = await proxy.until(/Could not watch a resource.*Unauthorized.*"\/api\/v1\/services"/);
    writeFileSync(path, 'fresh-token\n');
    await proxy.until('"The resource is watched again" where="/api/v1/services"', { from: told });
    await stage.cluster.apply(service('after', '10.96.5.1'));
    await stage.until('know it', () => stage.node.knows('10.96.5.1'));
  });

  test('E2E-16 a CA of another cluster is told with the field that names it, and tried again', async () => {
    const proxy = start({ 'certificate-authority-data': base64(certificates().otherCa.cert) });
    await proxy.until(
      /the certificate of the API server 192\.168\.0\.2:6443 is not signed by the CA that the kubeconfig \S+ names \(certificate-authority-data\): check that it is this cluster's CA/,
    );
    await stays();
  });

  test('E2E-17 a server that is not there is told with its address, and tried again', async () => {
    const proxy = start({ server: 'https://192.168.0.2:1' });
    await proxy.until('the API server 192.168.0.2:1 refused the connection: check that it runs, and its address');
    await stays();
    await proxy.stop();
    const elsewhere = start({ server: 'https://192.168.0.77:6443' });
    await elsewhere.until('the API server 192.168.0.77:6443 cannot be reached: there is no route to it');
    await stays();
  });

  test('E2E-18 who may not is told so in the words of the server, and what to do; once it may all goes on', async () => {
    const proxy = start({}, { token: 'nobody-token' });
    await proxy.until(
      /nodes.* is forbidden: User \\"nobody\\" cannot (list|watch) resource \\"nodes\\" in API group \\"\\" at the cluster scope.*: bind this user to the ClusterRole system:node-proxier/,
    );
    await stays();
    const binding = bindingTo('nobody', 'system:node-proxier');
    await stage.cluster.apply(binding);
    await proxy.until(NODES_FOLLOWED_AGAIN);
    await proxy.until(ALL_SYNCED);
    await stage.cluster.delete(binding);
  });

  test('E2E-18 START-3 while one kind of object is denied and has not come, nothing is programmed', async () => {
    const { cluster, node } = stage;
    nft(cluster.namespace, 'flush', 'ruleset');
    await cluster.apply(service('early', '10.96.5.3'));
    const role = roleWithout('endpointslices');
    await cluster.apply(role);
    const binding = bindingTo('nobody', role.metadata.name);
    await cluster.apply(binding);
    const proxy = start({}, { token: 'nobody-token' });
    const has = async (line: RegExp) => line.test((await node.health('/readyz?verbose')).text);
    for (const path of ['/api/v1/nodes', '/api/v1/services', '/apis/networking.k8s.io/v1/servicecidrs'])
      await stage.until(`have ${path}`, () => has(new RegExp(`^\\[\\+\\]watch ${path} ok`, 'm')));
    await proxy.until(/endpointslices.* is forbidden/);
    assert.equal(node.hasTables(), false);
    await cluster.delete(binding);
    await cluster.apply(bindingTo('nobody', 'system:node-proxier'));
    await proxy.until(ALL_SYNCED);
    assert.ok(node.knows('10.96.5.3'));
    await cluster.delete(binding);
  });

  test('E2E-19 a kubeconfig that is missing, broken or says nothing ends the process with its name', async () => {
    const exits = async (kubeconfig: string, words: RegExp) => {
      const proxy = stage.start({ clientConnection: { kubeconfig } });
      assert.deepEqual(await proxy.exit, { status: 1, signal: null });
      assert.match(proxy.lines.join('\n'), words);
    };
    await exits('/nowhere/kubeconfig', /"command failed" err="stat \/nowhere\/kubeconfig: no such file or directory"/);
    await exits(files.write('broken', '{'), /"command failed" err="error loading config file \\".*broken\\": /);
    const context = { 'current-context': 'here', contexts: [] };
    await exits(files.write('lost', JSON.stringify(context)), /context was not found for specified context: here/);
  });

  test('E2E-20 every object of deploy/ is one that the API server takes', async () => {
    const { cluster } = stage;
    const objects = deployedObjects();
    assert.deepEqual(
      objects.map(({ kind }) => kind),
      ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'ConfigMap', 'DaemonSet'],
    );
    for (const { object, path } of objects.map(object => ({ object, path: collectionOf(object) }))) {
      const { status, json } = await cluster.request('POST', `${path}?dryRun=All&fieldValidation=Strict`, object);
      assert.equal(status, 201, `${object.kind}: ${JSON.stringify(json)}`);
    }
  });

  test('E2E-21 the ClusterRole of deploy/ is enough: with it alone the proxy works, and writes its birth', async () => {
    const { cluster, node } = stage;
    const role = deployedObjects().find(({ kind }) => kind === 'ClusterRole');
    assert.ok(role);
    await cluster.apply(role);
    await cluster.apply(bindingTo('nobody', role.metadata.name));
    const births = async () =>
      (await eventsIn(cluster, 'default')).filter(({ reason }) => reason === 'Starting').length;
    const before = await births();
    const proxy = start({}, { token: 'nobody-token' });
    await proxy.until(ALL_SYNCED);
    await cluster.apply(service('allowed', '10.96.5.2'));
    await stage.until('know it', () => node.knows('10.96.5.2'));
    await stage.until('write its birth', async () => (await births()) === before + 1);
    assert.deepEqual(
      proxy.lines.filter(line => /forbidden|Failed/.test(line)),
      [],
    );
    const codes = (await node.metric('rest_client_requests_total')).map(({ labels }) => labels.code);
    assert.deepEqual([...new Set(codes)].sort(), ['200', '201']);
  });

  /** It does not end, and the health of the process is good: a restart would not help. */
  async function stays(): Promise<void> {
    assert.equal((await stage.node.health('/livez')).status, 200);
    assert.equal((await stage.node.health('/readyz')).status, 503);
    assert.equal(stage.proxy.hasEnded, false);
  }
});

function bindingTo(user: string, role: string): KubeObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `${user}-for-tests` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }],
  };
}

/** To follow what a proxy follows, but for one resource. */
function roleWithout(denied: string): KubeObject {
  const resources = ['nodes', 'services', 'endpointslices', 'servicecidrs'].filter(resource => resource !== denied);
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: `without-${denied}` },
    rules: [{ apiGroups: ['*'], resources, verbs: ['get', 'list', 'watch'] }],
  };
}

const PLURALS: Readonly<Record<string, string>> = {
  ServiceAccount: 'serviceaccounts',
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
  ConfigMap: 'configmaps',
  DaemonSet: 'daemonsets',
};

function collectionOf({ apiVersion, kind, metadata }: KubeObject): string {
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const scope = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
  return `${group}${scope}/${PLURALS[kind]}`;
}
