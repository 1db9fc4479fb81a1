import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, afterEach, before, describe, test } from 'node:test';
import type { KubeObject } from '../control-plane/objects.ts';
import { tokenFile } from '../control-plane/users.ts';
import { certificates } from '../support/certificates.ts';
import { base64, KubeconfigFolder } from '../support/kubeconfig.ts';
import { nft } from '../support/nftables-mode.ts';
import { eventsIn } from './cluster-events.ts';
import { deployedObjects, deployedPatches } from './deployed-objects.ts';
import { service } from './objects.ts';
import { ALL_SYNCED, Stage } from './stage.ts';

const NODES_FOLLOWED_AGAIN = '"The resource is watched again" where="/api/v1/nodes"';

/** The fields of a DaemonSet that a test reads. */
interface DaemonSet {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly Container[] } } };
}

interface Container {
  readonly name: string;
  readonly securityContext: { readonly capabilities: { readonly drop: readonly string[] } };
}

/** What a securityContext has beside capabilities. */
const UNPRIVILEGED = {
  allowPrivilegeEscalation: false,
  privileged: false,
  readOnlyRootFilesystem: true,
  seccompProfile: { type: 'RuntimeDefault' },
};

describe('the credentials and permissions of the proxy', () => {
  let stage: Stage;
  const files = new KubeconfigFolder();
  const tokens = files.write('tokens.csv', tokenFile());

  before(async () => {
    stage = await Stage.open({ apiserverArgs: [`--token-auth-file=${tokens}`, '--allow-privileged=true'] });
  });

  afterEach(() => stage.proxy.stop());

  after(async () => {
    files.close();
    await stage?.close();
  });

  /** Starts a proxy with these fields in the cluster and the user of its kubeconfig. */
  function start(cluster: object = {}, user: object = { token: 'proxy-token' }) {
    const { server, ca } = stage.cluster;
    const path = files.kubeconfig({ server, 'certificate-authority-data': base64(ca), ...cluster }, user);
    return stage.start({ clientConnection: { kubeconfig: path } });
  }

  test('E2E-15 the proxy logs that a token is wrong, and continues without a restart when the token file has the right one', async () => {
    const path = files.write('token', 'wrong-token');
    const proxy = start({}, { tokenFile: path });
    await proxy.until(/Could not watch a resource.*Unauthorized.*"\/api\/v1\/nodes"/);
    writeFileSync(path, 'proxy-token\n');
    await proxy.until(NODES_FOLLOWED_AGAIN);
    await proxy.until(ALL_SYNCED);

    // The server no longer accepts the token, as after its expiry.
    writeFileSync(tokens, tokenFile().replace('proxy-token', 'fresh-token'));
    await stage.cluster.stopApiserver('SIGKILL');
    await stage.cluster.startApiserver();
    const next = await proxy.until(/Could not watch a resource.*Unauthorized.*"\/api\/v1\/services"/);
    writeFileSync(path, 'fresh-token\n');
    await proxy.until('"The resource is watched again" where="/api/v1/services"', { from: next });
    await stage.cluster.apply(service('after', '10.96.5.1'));
    await stage.until('know it', () => stage.node.knows('10.96.5.1'));
  });

  test('E2E-16 for a CA of another cluster the proxy logs the field of the kubeconfig, and retries', async () => {
    const proxy = start({ 'certificate-authority-data': base64(certificates().otherCa.cert) });
    await proxy.until(
      /the certificate of the API server 192\.168\.0\.2:6443 is not signed by the CA that the kubeconfig \S+ names \(certificate-authority-data\): check that it is this cluster's CA/,
    );
    await assertRetries();
  });

  test('E2E-17 for a server that does not exist the proxy logs its address, and retries', async () => {
    const proxy = start({ server: 'https://192.168.0.2:1' });
    await proxy.until('the API server 192.168.0.2:1 refused the connection: check that it runs, and its address');
    await assertRetries();
    await proxy.stop();
    const elsewhere = start({ server: 'https://192.168.0.77:6443' });
    await elsewhere.until('the API server 192.168.0.77:6443 cannot be reached: there is no route to it');
    await assertRetries();
  });

  test('E2E-18 without permissions the proxy logs the words of the server and what to do, and continues once it has them', async () => {
    const proxy = start({}, { token: 'nobody-token' });
    await proxy.until(
      /nodes.* is forbidden: User \\"nobody\\" cannot (list|watch) resource \\"nodes\\" in API group \\"\\" at the cluster scope.*: bind this user to the ClusterRole system:node-proxier/,
    );
    await assertRetries();
    const binding = bindingTo('nobody', 'system:node-proxier');
    await stage.cluster.apply(binding);
    await proxy.until(NODES_FOLLOWED_AGAIN);
    await proxy.until(ALL_SYNCED);
    await stage.cluster.delete(binding);
  });

  test('E2E-18 START-3 while the proxy may not read one kind of object, it programs nothing', async () => {
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

  test('E2E-18 WATCH-18 the proxy syncs without ServiceCIDRs if it may not read them, and uses them once it may', async () => {
    const { cluster, node } = stage;
    nft(cluster.namespace, 'flush', 'ruleset');
    await cluster.apply(service('open', '10.96.5.4'));
    const role = roleWithout('servicecidrs');
    await cluster.apply(role);
    const binding = bindingTo('nobody', role.metadata.name);
    await cluster.apply(binding);
    const proxy = start({}, { token: 'nobody-token' });
    await proxy.until(ALL_SYNCED);
    assert.ok(node.knows('10.96.5.4'));
    assert.deepEqual(node.serviceCIDRs('IPv4'), []);
    assert.equal((await node.health('/healthz')).status, 200);
    assert.equal((await node.health('/readyz')).status, 200);
    await cluster.delete(binding);
    await cluster.apply(bindingTo('nobody', 'system:node-proxier'));
    await proxy.until('"The resource is watched again" where="/apis/networking.k8s.io/v1/servicecidrs"', {
      timeoutMs: 30_000,
    });
    await stage.until('use the ServiceCIDRs', () => node.serviceCIDRs('IPv4').includes('10.96.0.0/12'));
    const warnings = proxy.lines.filter(line => line.includes('optional resource'));
    assert.equal(warnings.length, 1, warnings.join('\n'));
    assert.match(warnings[0] ?? '', /^W.*servicecidrs.* is forbidden/);
    await cluster.delete(binding);
  });

  test('E2E-19 a kubeconfig that is missing, broken or incomplete ends the process, and the error names the file', async () => {
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

  test('E2E-20 the API server accepts every object of deploy/', async () => {
    const { cluster } = stage;
    const objects = deployedObjects();
    assert.deepEqual(
      objects.map(({ kind }) => kind),
      ['ServiceAccount', 'ClusterRoleBinding', 'DaemonSet'],
    );
    for (const { object, path } of objects.map(object => ({ object, path: collectionOf(object) }))) {
      const { status, json } = await cluster.request('POST', `${path}?dryRun=All&fieldValidation=Strict`, object);
      assert.equal(status, 201, `${object.kind}: ${JSON.stringify(json)}`);
    }
  });

  test('E2E-20 the API server accepts the patch of every mode, and the proxy itself is not privileged in any mode', async () => {
    const { cluster } = stage;
    const daemonSet = deployedObjects().find(({ kind }) => kind === 'DaemonSet');
    assert.ok(daemonSet);
    await cluster.apply(daemonSet);
    const path = `${collectionOf(daemonSet)}/${daemonSet.metadata.name}?dryRun=All&fieldValidation=Strict`;
    const type = 'application/strategic-merge-patch+json';
    for (const [mode, patch] of deployedPatches()) {
      const { status, json } = await cluster.request('PATCH', path, patch, type);
      assert.equal(status, 200, `${mode}: ${JSON.stringify(json)}`);
      const rights = mode === 'ebpf' ? { ...UNPRIVILEGED, appArmorProfile: { type: 'Unconfined' } } : UNPRIVILEGED;
      const containers = (json as DaemonSet).spec.template.spec.containers;
      assert.deepEqual(
        containers.map(({ name, securityContext: { capabilities, ...rest } }) => [name, capabilities.drop, rest]),
        [['kube-proxy', ['ALL'], rights]],
      );
    }
    await cluster.delete(daemonSet);
  });

  test('E2E-21 the ClusterRole that deploy/ binds is enough for the proxy to work and to write its Event of the start', async () => {
    const { cluster, node } = stage;
    const binding = deployedObjects().find(({ kind }) => kind === 'ClusterRoleBinding');
    assert.ok(binding);
    const { name } = binding.roleRef as { readonly name: string };
    await cluster.apply(bindingTo('nobody', name));
    const startEvents = async () =>
      (await eventsIn(cluster, 'default')).filter(({ reason }) => reason === 'Starting').length;
    const before = await startEvents();
    const proxy = start({}, { token: 'nobody-token' });
    await proxy.until(ALL_SYNCED);
    await cluster.apply(service('allowed', '10.96.5.2'));
    await stage.until('know it', () => node.knows('10.96.5.2'));
    await stage.until('write its Event', async () => (await startEvents()) === before + 1);
    assert.deepEqual(
      proxy.lines.filter(line => /forbidden|Failed/.test(line)),
      [],
    );
    const codes = (await node.metric('rest_client_requests_total')).map(({ labels }) => labels.code);
    assert.deepEqual([...new Set(codes)].sort(), ['200', '201']);
  });

  /** The proxy does not end, and its process is healthy, because a restart would not help. */
  async function assertRetries(): Promise<void> {
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

/** A role to read everything that a proxy reads, except one resource. */
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
  ClusterRoleBinding: 'clusterrolebindings',
  DaemonSet: 'daemonsets',
};

function collectionOf({ apiVersion, kind, metadata }: KubeObject): string {
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const scope = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
  return `${group}${scope}/${PLURALS[kind]}`;
}
