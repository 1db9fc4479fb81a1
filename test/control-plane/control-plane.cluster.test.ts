import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { NODE_IP, NODE_IP6 } from '../support/namespaces.ts';
import { ControlPlane } from './control-plane.ts';
import { NODE } from './node-object.ts';
import type { KubeObject } from './objects.ts';

const WEB: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web' },
  spec: { type: 'LoadBalancer', clusterIP: '10.96.0.10', ports: [{ name: 'http', port: 80 }] },
  status: { loadBalancer: { ingress: [{ ip: '203.0.113.1', ipMode: 'VIP' }] } },
};
const SLICE: KubeObject = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' } },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  endpoints: [{ addresses: ['10.244.1.2'], nodeName: 'node-a' }],
};
const SERVICES = '/api/v1/services';

describe('a control plane', () => {
  let controlPlane: ControlPlane;

  before(async () => {
    controlPlane = await ControlPlane.start();
  });

  after(() => controlPlane.close());

  test('the API server has the version of Kubernetes that go.mod names', async () => {
    const { json } = await controlPlane.request('GET', '/version');
    assert.equal(field(json, 'gitVersion'), 'v1.36.4');
  });

  test('objects can be created, replaced and deleted, with their status', async () => {
    await controlPlane.apply(WEB);
    await controlPlane.apply(SLICE);
    await controlPlane.apply(NODE);
    const web = await controlPlane.read(WEB);
    assert.deepEqual(field(web, 'spec', 'clusterIPs'), ['10.96.0.10']);
    assert.deepEqual(web?.status, WEB.status);
    assert.deepEqual((await controlPlane.read(SLICE))?.endpoints, [
      { addresses: ['10.244.1.2'], conditions: {}, nodeName: 'node-a' },
    ]);
    assert.deepEqual(field(await controlPlane.read(NODE), 'status', 'addresses', '1'), {
      type: 'InternalIP',
      address: NODE_IP6,
    });

    const endpoints = [{ addresses: ['10.244.1.3'] }];
    const replaced = await controlPlane.apply({ ...SLICE, endpoints });
    assert.deepEqual(field(replaced, 'endpoints', '0', 'addresses'), ['10.244.1.3']);
    await controlPlane.delete(SLICE);
    await controlPlane.delete(SLICE);
    assert.equal(await controlPlane.read(SLICE), undefined);
    await assert.rejects(
      controlPlane.apply({ ...SLICE, addressType: 'Pigeon' }),
      /POST .*endpointslices: status 422, .*Unsupported value: "Pigeon"/,
    );
  });

  test('the user proxy may read what a proxy needs, and the user nobody may read nothing', async () => {
    const status = async (user: 'proxy' | 'nobody', path: string) =>
      (await controlPlane.requestAs(user, 'GET', path)).status;
    assert.equal(await status('proxy', SERVICES), 200);
    assert.equal(await status('proxy', '/apis/discovery.k8s.io/v1/endpointslices'), 200);
    assert.equal(await status('proxy', '/apis/networking.k8s.io/v1/servicecidrs'), 200);
    assert.equal(await status('proxy', '/api/v1/nodes/node-a'), 200);
    assert.equal(await status('proxy', '/api/v1/secrets'), 403);
    assert.equal(await status('nobody', SERVICES), 403);
  });

  test('there is a kubeconfig for each user', () => {
    const kubeconfig = JSON.parse(readFileSync(controlPlane.kubeconfig('proxy'), 'utf8'));
    assert.equal(kubeconfig.clusters[0].cluster.server, `https://${NODE_IP}:6443`);
    const ca = Buffer.from(kubeconfig.clusters[0].cluster['certificate-authority-data'], 'base64').toString();
    assert.equal(ca, controlPlane.ca);
    assert.equal(kubeconfig.users[0].user.token, 'proxy-token');
  });

  test('the API server does not answer while it is paused', async () => {
    await controlPlane.pauseApiserver();
    let resumed = false;
    const answer = controlPlane.request('GET', '/readyz').then(({ status }) => ({ status, resumed }));
    await new Promise(resolve => setTimeout(resolve, 200));
    resumed = true;
    controlPlane.resumeApiserver();
    assert.deepEqual(await answer, { status: 200, resumed: true });
  });

  test('a proxy runs with a configuration file, and its log lines are collected', async () => {
    // This script stands for a proxy. It prints its arguments and environment.
    const command = ['sh', '-c', 'cat "$2" >&2; echo " $1 $3 $WORD" >&2; exit 3', 'sh'];
    const options = { command, args: ['--v=2'], env: { WORD: 'word' } };
    const proxy = controlPlane.startProxy({ mode: 'iptables' }, options);
    assert.equal(await proxy.until('--config --v=2 word'), 1);
    const configuration = JSON.parse(proxy.lines[0]?.split(' ')[0] ?? '');
    assert.equal(configuration.mode, 'iptables');
    assert.equal(configuration.hostnameOverride, 'node-a');
    assert.equal(configuration.clientConnection.kubeconfig, controlPlane.kubeconfig('proxy'));
    assert.deepEqual(await proxy.exit, { status: 3, signal: null });
    await assert.rejects(
      proxy.until('more', { from: 1 }),
      /^Error: kube-proxy ended, status 3, and did not write "more"/,
    );

    const stopped = controlPlane.startProxy({}, { command: ['sh', '-c', 'exec sleep 60', 'sh'] });
    assert.equal(stopped.hasEnded, false);
    assert.deepEqual(await stopped.stop('SIGTERM'), { status: null, signal: 'SIGTERM' });
  });

  test('the API server has its objects after a restart, but no versions from before', async () => {
    const { json: list } = await controlPlane.request('GET', SERVICES);
    const version = String(field(list, 'metadata', 'resourceVersion'));
    await controlPlane.apply({ ...WEB, metadata: { ...WEB.metadata, labels: { changed: 'yes' } } });
    assert.ok(Number(await controlPlane.compact()) > Number(version));

    await controlPlane.stopApiserver();
    await assert.rejects(controlPlane.request('GET', '/readyz'), /ECONNREFUSED/);
    await controlPlane.startApiserver();
    assert.deepEqual(field(await controlPlane.read(WEB), 'metadata', 'labels'), { changed: 'yes' });
    const watch = `${SERVICES}?watch=true&timeoutSeconds=5&resourceVersion=${version}`;
    assert.equal(field((await controlPlane.request('GET', watch)).json, 'object', 'code'), 410);
  });
});

test('a control plane that cannot start rejects with the reason, and leaves no process', async () => {
  const before = children();
  await assert.rejects(
    ControlPlane.start({ apiserverArgs: ['--no-such-flag'] }),
    /^Error: kube-apiserver ended, status 1, and did not become ready. Its last lines:.*unknown flag: --no-such-flag/s,
  );
  assert.equal(children(), before);
});

/** The process ids of this process's children. */
function children(): string {
  return readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8');
}

function field(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], value);
}
