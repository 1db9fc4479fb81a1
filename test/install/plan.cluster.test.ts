import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { kubeconfigText } from '../control-plane/users.ts';
import { InstallCluster } from './cluster.ts';
import { blocksIn } from './page.ts';

const GUIDE = 'docs/guide/see-what-a-service-means.md';
const WEB = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web' },
  spec: {
    type: 'NodePort',
    clusterIP: '10.96.0.77',
    selector: { app: 'web' },
    ports: [{ name: 'http', port: 80, nodePort: 30077, targetPort: 'www' }],
  },
};
const SLICE = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' } },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  endpoints: [{ addresses: ['10.244.1.2'], nodeName: 'node-a', conditions: { ready: true } }],
};
const HEADLESS = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'db' },
  spec: { clusterIP: 'None', ports: [{ name: 'sql', port: 5432 }] },
};

describe('kube-proxy plan with a real API server', () => {
  let cluster: InstallCluster;
  const shell = () => cluster.shell;

  before(async () => {
    cluster = await InstallCluster.start();
    const { controlPlane } = cluster;
    for (const object of [WEB, SLICE, HEADLESS]) await controlPlane.apply(object);
    await cluster.installWithKubeadm();
    await shell().run('NODE=node-a');
  });

  after(() => cluster?.close());

  test('CLI-69 every command of the guide runs as written, without problems', async () => {
    const blocks = blocksIn(GUIDE);
    assert.equal(blocks.length, 4);
    const outputs: string[] = [];
    for (const { text } of blocks) outputs.push(await shell().run(text.replaceAll('bin/kube-proxy', 'kube-proxy')));
    for (const output of outputs) {
      assert.match(output, /^Node node-a {2}.* 2 Services\n/);
      assert.match(
        output,
        /^default\/web:http {2}TCP IPv4\n {2}10\.96\.0\.77:80 +ClusterIP +→ 1 endpoint; masquerades outsiders\n/m,
      );
      assert.match(output, /^default\/kubernetes:https /m);
      assert.match(output, /^ {2}default\/db +headless/m);
    }
    const [fromServer, ...others] = outputs;
    assert.deepEqual(others.slice(0, 2), [fromServer, fromServer]);
  });

  test('CLI-69 JSON of kubectl gives the same plan, and the list of ServiceCIDRs counts', async () => {
    const get = (form: string) =>
      shell().run(
        `kubectl get services,endpointslices,nodes,servicecidrs -A -o ${form} | kube-proxy plan --manifests - --node node-a --rules`,
      );
    const rules = await get('json');
    assert.match(rules, /add element ip kube-proxy service-cidrs \{ 10\.96\.0\.0\/12 /);
    assert.equal(rules, await get('yaml'));
    assert.equal(rules, await shell().run('kube-proxy plan --kubeconfig "$KUBECONFIG" --node node-a --rules'));
  });

  test('CLI-70 several Nodes and no name are an error', async () => {
    const { status, stdout, stderr } = await shell().try('kube-proxy plan --kubeconfig "$KUBECONFIG"');
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, /^Error: \S+ has 2 Nodes: name one with --node: node-a, node-b\n/);
    const unknown = await shell().try('kube-proxy plan --kubeconfig "$KUBECONFIG" --node node-x');
    assert.match(unknown.stderr, /^Error: there is no Node node-x in \S+: the Nodes are node-a, node-b\n/);
  });

  test('CLI-69 a user who may not list Services is refused with advice, and the role of a proxy is enough', async () => {
    const { controlPlane } = cluster;
    const nobody = await shell().try(`kube-proxy plan --kubeconfig ${controlPlane.kubeconfig('nobody')} --node node-a`);
    assert.deepEqual([nobody.status, nobody.stdout], [1, '']);
    assert.match(
      nobody.stderr,
      /^Error: cannot list \/\S+ of \S+: .*User "nobody" cannot list resource .*\nAllow this user to list \w+ in all namespaces, or use another kubeconfig or --context\.\n$/,
    );
    const proxy = await shell().run(`kube-proxy plan --kubeconfig ${controlPlane.kubeconfig('proxy')} --node node-a`);
    assert.match(proxy, /^default\/web:http /m);
  });

  test('CLI-69 --context chooses the server and the user', async () => {
    const { controlPlane } = cluster;
    const config = JSON.parse(kubeconfigText('nobody', controlPlane.server, controlPlane.ca));
    const admin = JSON.parse(kubeconfigText('admin', controlPlane.server, controlPlane.ca));
    config.users.push(...admin.users);
    config.contexts.push({ name: 'other', context: { cluster: 'test', user: 'admin' } });
    const path = join(shell().folder, 'contexts.kubeconfig');
    writeFileSync(path, JSON.stringify(config));
    assert.match(
      await shell().run(`kube-proxy plan --kubeconfig ${path} --context other --node node-a`),
      /^Node node-a /,
    );
    assert.equal((await shell().try(`kube-proxy plan --kubeconfig ${path} --node node-a`)).status, 1);
  });

  test('CLI-73 a port that does not match is a problem with the path of the object', async () => {
    await cluster.controlPlane.apply({ ...SLICE, ports: [{ name: 'htp', port: 8080, protocol: 'TCP' }] });
    try {
      const { status, stdout } = await shell().try('kube-proxy plan --kubeconfig "$KUBECONFIG" --node node-a');
      assert.equal(status, 1);
      assert.match(
        stdout,
        / {2}✗ \/apis\/discovery\.k8s\.io\/v1\/namespaces\/default\/endpointslices\/web-1: EndpointSlice default\/web-1: ports\[0\]\.name is htp, but Service default\/web has the port http: did you mean http\?\n/,
      );
    } finally {
      await cluster.controlPlane.apply(SLICE);
    }
  });
});
