import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Ip } from '../src/net/index.ts';
import { Program } from './control-plane/program.ts';
import { testControlGroup } from './support/bpf-lab.ts';
import { startConnectedClient } from './support/connected-client.ts';
import { buildKubeProxy, KUBE_PROXY, runKubeProxy, SYNCED } from './support/kube-proxy.ts';
import { TestNetwork } from './support/test-socket.ts';
import { waitFor } from './support/wait-for.ts';

const [FIRST, SECOND] = ['10.244.1.2' as Ip, '10.244.1.3' as Ip];
const SERVICE = '10.96.0.10' as Ip;

function manifest(endpoints: readonly { readonly ip: Ip; readonly pod: string }[]): string {
  const lines = endpoints.map(
    ({ ip, pod }) =>
      `  - { addresses: [${ip}], nodeName: node-a, conditions: { ready: true }, targetRef: { kind: Pod, namespace: shop, name: ${pod} } }`,
  );
  return `apiVersion: v1
kind: Service
metadata: { name: cart, namespace: shop }
spec: { clusterIP: ${SERVICE}, selector: { app: cart }, ports: [{ name: http, port: 80, targetPort: 8080 }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: cart-1, namespace: shop, labels: { kubernetes.io/service-name: cart } }
addressType: IPv4
ports: [{ name: http, port: 8080, protocol: TCP }]
endpoints:
${lines.join('\n')}
`;
}

/** The real program in ebpf mode, for processes of one control group only. */
describe('sockets of a running proxy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pointsman-sockets-'));
  const socket = join(folder, 'proxy.sock');
  let group: string;
  let node: TestNetwork;
  let pod: TestNetwork;
  let proxy: Program;
  const clients: Program[] = [];

  before(async () => {
    buildKubeProxy();
    group = join(testControlGroup(), 'sockets-of-a-proxy');
    mkdirSync(group);
    node = new TestNetwork([FIRST], 8080);
    pod = new TestNetwork([FIRST, SECOND], 8080);
    mkdirSync(join(folder, 'manifests'));
    write([{ ip: FIRST, pod: 'cart-0' }]);
    const flags = ['--manifests', join(folder, 'manifests'), '--hostname-override', 'node-a', '--proxy-mode', 'ebpf'];
    const own = ['--cgroup-root', group, '--inspect-socket', socket, '--healthz-bind-address=', '--page-bind-address='];
    proxy = new Program('the proxy', [KUBE_PROXY, ...flags, ...own], { namespace: node.namespace });
    await proxy.until(SYNCED);
    for (const network of [node, pod]) await connected(network);
  });

  after(async () => {
    for (const each of clients) await each.stop();
    await proxy?.stop();
    node?.close();
    pod?.close();
    rmdirSync(group);
    rmSync(folder, { recursive: true });
  });

  async function connected(network: TestNetwork): Promise<void> {
    clients.push(await startConnectedClient(network.namespace, group, { ip: SERVICE, port: 80 }));
  }

  function write(endpoints: Parameters<typeof manifest>[0]): void {
    writeFileSync(join(folder, 'manifests', 'cart.yaml'), manifest(endpoints));
  }

  function run(...args: string[]) {
    return runKubeProxy(node.namespace, [...args, '--inspect-socket', socket]);
  }

  test('SOCKETS-10 kube-proxy sockets names callers and endpoints of two network namespaces', () => {
    const { status, stdout, stderr } = run('sockets');
    assert.deepEqual([status, stderr], [0, '']);
    const lines = stdout.trimEnd().split('\n');
    assert.equal(lines[0], 'SERVICE         CALLER       ENDPOINT     STATE');
    assert.deepEqual(lines.slice(1).sort(), [
      'shop/cart:http  node         shop/cart-0  ESTAB',
      'shop/cart:http  shop/cart-0  shop/cart-0  ESTAB',
    ]);
  });

  test('SOCKETS-13 a name that does not exist is an error with the nearest one', () => {
    const { status, stderr } = run('sockets', 'shop/crat');
    assert.equal(status, 2);
    assert.match(stderr, /there is no Service "shop\/crat": did you mean shop\/cart\?/);
  });

  test('SOCKETS-14 explain counts them', () => {
    const { stdout } = run('explain', 'shop/cart');
    assert.match(stdout, /2 sockets are connected to shop\/cart:http now/);
  });

  test('SOCKETS-11 during a rollout the summary shows the endpoint that is gone', async () => {
    write([{ ip: SECOND, pod: 'cart-1' }]);
    const counts = () => {
      const { stdout } = run('sockets', 'shop/cart', '--summary', '-o', 'json');
      return JSON.parse(stdout).endpoints as { endpoint: string; endpointUse: string; sockets: number }[];
    };
    await waitFor('the endpoint is gone', () => counts()[0]?.endpointUse === 'gone');
    await connected(pod);
    assert.deepEqual(
      counts().map(({ endpoint, endpointUse, sockets }) => [endpoint, endpointUse, sockets]),
      [
        [`${FIRST}:8080`, 'gone', 2],
        [`${SECOND}:8080`, 'used', 1],
      ],
    );
  });
});
