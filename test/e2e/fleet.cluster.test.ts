import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Cluster } from '../../src/demo/playground/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { type Ip, parseIp } from '../../src/net/index.ts';
import type { FleetRow, FleetServiceRow } from '../../src/page/index.ts';
import { ControlPlane } from '../control-plane/control-plane.ts';
import { HttpClient } from '../control-plane/http-client.ts';
import type { KubeObject } from '../control-plane/objects.ts';
import { Program } from '../control-plane/program.ts';
import type { User } from '../control-plane/users.ts';
import { certificates } from '../support/certificates.ts';

const PAGE_PORT = 10280;
const TOKEN = 'a-token-for-all-nodes';
const READY_MS = 60_000;
const NAMESPACE = 'kube-system';

function manifest(...addresses: string[]): string {
  const endpoints = addresses.map(address => ({ addresses: [address] }));
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { clusterIP: '10.96.0.10', ports: [{ port: 80 }] },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      ports: [{ name: '', port: 8080 }],
      endpoints,
    },
  ]
    .map(object => JSON.stringify(object))
    .join('\n---\n');
}

function pod(node: string, ip: string): KubeObject {
  const args = [`--page-bind-address=${ip}:${PAGE_PORT}`, '--page-tls-cert-file=/x', '--page-tls-key-file=/x'];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `kube-proxy-${node}`, namespace: NAMESPACE, labels: { 'k8s-app': 'kube-proxy' } },
    spec: { nodeName: node, hostNetwork: true, containers: [{ name: 'kube-proxy', image: 'pointsman', args }] },
    status: { phase: 'Running', podIP: ip, podIPs: [{ ip }] },
  };
}

function node(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name } };
}

/** What `kube-proxy page` needs, without the right to ask pods. */
const LISTS_ONLY: readonly KubeObject[] = [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'lists-only' },
    rules: [{ apiGroups: [''], resources: ['nodes', 'pods'], verbs: ['list'] }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'lists-only' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'lists-only' },
    subjects: [{ kind: 'User', name: 'nobody' }],
  },
];

/** The files of the nodes' pages, and the manifests of the proxies. */
function writeFiles(folder: string): Readonly<Record<'cert' | 'key' | 'token', string>> {
  const { cert, key } = certificates().server;
  const files = { cert: join(folder, 'page.crt'), key: join(folder, 'page.key'), token: join(folder, 'token') };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key);
  writeFileSync(files.token, `${TOKEN}\n`);
  for (const [name, text] of Object.entries({
    now: manifest('10.244.1.10', '10.244.2.10'),
    before: manifest('10.244.1.10', '10.244.2.99'),
  })) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'objects.yaml'), text);
  }
  return files;
}

interface Fleet {
  ask<Row>(path: string): Promise<readonly Row[]>;
}

test('FLEET-1 FLEET-3 FLEET-9 a page shows all nodes of a cluster through its API server, as far as the user may', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-'));
  const cluster = Cluster.create();
  const programs: Program[] = [];
  let controlPlane: ControlPlane | undefined;
  t.after(async () => {
    await Promise.all(programs.map(program => program.stop('SIGKILL')));
    await controlPlane?.close();
    cluster.close();
    rmSync(folder, { recursive: true });
  });
  const files = writeFiles(folder);
  const run = (name: string, namespace: NetworkNamespace, ...args: string[]) => {
    const program = new Program(name, [process.execPath, 'build/kube-proxy.mjs', ...args], { namespace });
    programs.push(program);
    return program;
  };
  const startProxy = (name: string, namespace: NetworkNamespace, ip: string, objects: 'now' | 'before') =>
    run(
      name,
      namespace,
      ...['--manifests', join(folder, objects), '--hostname-override', name, '--inspect-socket='],
      ...['--page-bind-address', `${ip}:${PAGE_PORT}`, '--page-token-file', files.token],
      ...['--page-tls-cert-file', files.cert, '--page-tls-key-file', files.key],
    );
  const proxies = [
    startProxy('node-a', cluster.node, '192.168.0.2', 'now'),
    startProxy('node-b', cluster.host('other-node'), '192.168.0.3', 'before'),
    startProxy('node-c', cluster.host('third-node'), '192.168.0.4', 'now'),
  ];
  controlPlane = await ControlPlane.start({
    namespace: cluster.node,
    apiserverArgs: ['--disable-admission-plugins=ServiceAccount'],
  });
  for (const name of ['node-a', 'node-b', 'node-c', 'node-d', 'node-e']) await controlPlane.apply(node(name));
  for (const [name, ip] of Object.entries({ a: 2, b: 3, c: 4, d: 100 })) {
    await controlPlane.apply(pod(`node-${name}`, `192.168.0.${ip}`));
  }
  for (const object of LISTS_ONLY) await controlPlane.apply(object);
  await Promise.all(proxies.map(proxy => proxy.until("The operator's page listens")));

  const loopback = parseIp('127.0.0.1') as Ip;
  const openFleet = async (user: User, port: number, ...flags: string[]): Promise<Fleet> => {
    const kubeconfig = controlPlane?.kubeconfig(user) ?? '';
    const at = ['--bind-address', `127.0.0.1:${port}`];
    const page = run(`page of ${user}`, cluster.node, 'page', '--kubeconfig', kubeconfig, ...at, ...flags);
    const client = new HttpClient({ namespace: cluster.node, ip: loopback, port });
    t.after(() => client.close());
    const get = (path: string) => client.request({ method: 'GET', path });
    await page.waitFor('answer', async () => (await get('/v1/page')).text.includes('"view":"fleet"'), READY_MS);
    return {
      async ask<Row>(path: string) {
        const { status, text } = await get(path);
        assert.equal(status, 200, text);
        const [, ...rows] = text.trim().split('\n').filter(Boolean);
        return rows.map(row => JSON.parse(row) as Row).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
      },
    };
  };
  const silences = (rows: readonly FleetRow[]) =>
    rows.map(row => `${row.node} ${'silence' in row ? row.silence.kind : `${row.mode} ${row.ready}`}`);

  await t.test('FLEET-4 each node has a row, and nodes that do not answer say why', async () => {
    const fleet = await openFleet('admin', 10290, '--page-token-file', files.token);
    assert.deepEqual(silences(await fleet.ask<FleetRow>('/v1/fleet')), [
      'node-a nftables true',
      'node-b nftables true',
      'node-c nftables true',
      'node-d noPage',
      'node-e noProxy',
    ]);
    const rows = await fleet.ask<FleetServiceRow>('/v1/fleet/service?name=default/web');
    const [a, b, c] = rows.map(row => ('silence' in row ? undefined : row.known));
    assert.ok(a !== undefined && a === c && a !== b, 'node-b knows other endpoints');
    const unknown = await fleet.ask<FleetServiceRow>('/v1/fleet/service?name=default/none');
    assert.ok(unknown.slice(0, 3).every(row => !('silence' in row) && row.row === undefined));
  });

  await t.test(
    'FLEET-9 without the right to pods/proxy, or with a wrong token, the nodes are shown as such',
    async () => {
      const forbidden = await openFleet('nobody', 10291, '--page-token-file', files.token);
      const rows = await forbidden.ask<FleetRow>('/v1/fleet');
      assert.deepEqual(silences(rows), [
        'node-a forbidden',
        'node-b forbidden',
        'node-c forbidden',
        'node-d forbidden',
        'node-e noProxy',
      ]);
      assert.match(JSON.stringify(rows[0]), /needs the right to get pods\/proxy in the namespace kube-system/);
      const withoutToken = await openFleet('admin', 10292);
      assert.match(silences(await withoutToken.ask<FleetRow>('/v1/fleet'))[0] ?? '', /^node-a token$/);
    },
  );
});
