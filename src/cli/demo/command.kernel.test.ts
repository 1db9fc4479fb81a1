import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { testControlGroup } from '../../../test/support/bpf-lab.ts';
import { KUBE_PROXY } from '../../../test/support/kube-proxy.ts';
import { runMain } from '../../../test/support/run-main.ts';
import { MODES } from '../../modes/index.ts';

interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

async function demo(manifests: string, terminal: Stream = {}, ...flags: string[]) {
  return await runMain(['demo', '--manifests', manifests, '--once', ...flags], { terminal, env: { TERM: 'xterm' } });
}

async function demoOf(manifest: string, stream?: Stream, ...flags: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'demo-'));
  try {
    writeFileSync(join(folder, 'objects.yaml'), manifest);
    return await demo(folder, stream, ...flags);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const WEB = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {clusterIP: 10.96.0.10, externalIPs: [EXTERNAL], ports: [{name: http, port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: default, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints: [{addresses: [10.244.1.10], nodeName: node-a}]
`;

/** As kubectl prints it, cut down. */
const K3S = `
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: k3s-1}
  status: {addresses: [{type: InternalIP, address: 172.20.0.5}]}
- apiVersion: v1
  kind: Service
  metadata: {name: web}
  spec: {type: NodePort, clusterIP: 10.43.0.10, externalIPs: [192.0.2.7], ports: [{port: 80, nodePort: 30080}]}
- apiVersion: discovery.k8s.io/v1
  kind: EndpointSlice
  metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}
  addressType: IPv4
  ports: [{name: '', port: 8080}]
  endpoints:
  - {addresses: [10.42.0.5], nodeName: k3s-1}
  - {addresses: [10.42.1.7], nodeName: k3s-2}
- apiVersion: v1
  kind: Service
  metadata: {name: six}
  spec: {clusterIP: 'fd43::1', ipFamilies: [IPv6], ports: [{port: 80}]}
- apiVersion: discovery.k8s.io/v1
  kind: EndpointSlice
  metadata: {name: six-1, labels: {kubernetes.io/service-name: six}}
  addressType: IPv6
  ports: [{name: '', port: 8080}]
  endpoints:
  - {addresses: ['fd42::5'], nodeName: k3s-1}
  - {addresses: ['fd42:1::7'], nodeName: k3s-2}
`;

/** Every kernel that can run these tests has them. */
const WORKING_MODES = ['nftables', 'iptables', 'userspace'];

describe('kube-proxy demo --once', () => {
  test('DEMO-1 with the examples, every connection behaves as planned', async () => {
    const { status, stdout, stderr } = await demo('examples');
    assert.deepEqual([status, stderr], [0, ''], stdout);
    const lines = stdout.trimEnd().split('\n');
    assert.equal(lines.at(-1), '✓ all 36 as planned');
    assert.equal(lines.filter(line => line.startsWith('✓ ')).length, 37);
    assert.ok(!stdout.includes('\x1b'), 'output to a pipe has no colours');
    for (const expected of [
      /LoadBalancerIP +TCP 203\.0\.113\.30:443 +from pod +silent$/,
      /default\/idle +ClusterIP +TCP 10\.96\.0\.60:80 +from outside +refused$/,
      /NodePort +TCP 192\.168\.0\.2:30080 +from outside +10\.244\.1\.10:8080 100%$/,
      /default\/cart .* from node +10\.244\.\d\.1[01]:8080 100% as node$/,
      /default\/web:http .* from pod +10\.244\.1\.10:8080 \d+% as node · 10\.244\.2\.10:8080 \d+%$/,
      /dns:dns +ClusterIP +UDP \[fd00:10:96::53\]:53 +from outside +\[fd00:10:244:1::10\]:53 100% as node$/,
    ]) {
      assert.ok(
        lines.some(line => expected.test(line)),
        `${expected}\nis missing in\n${stdout}`,
      );
    }
  });

  test('DEMO-3 a result that is not as planned has a mark, and the exit status is 1', async () => {
    // This is the address of the machine outside, which sends nothing for it to the node.
    const { status, stdout } = await demoOf(WEB.replace('EXTERNAL', '192.168.0.100'));
    assert.equal(status, 1, stdout);
    assert.match(
      stdout,
      /^✗ default\/web:http .* 192\.168\.0\.100:80 +from outside +refused; but 10\.244\.1\.10:8080 /m,
    );
    assert.match(stdout, /^✓ default\/web:http .* 192\.168\.0\.100:80 +from pod +10\.244\.1\.10:8080 100% as node$/m);
    assert.match(stdout, /^✗ 1 of 6 not as planned$/m);
  });

  test('DEMO-3 a problem in the manifests is reported, and the exit status is 1', async () => {
    const metadata = 'metadata: {annotations: {pointsman.dev/balance: nine}, name: web';
    const { status, stdout, stderr } = await demoOf(
      WEB.replace('EXTERNAL', '').replace('metadata: {name: web', metadata),
    );
    assert.equal(status, 1);
    assert.match(stdout, /^! 1 problem, 3 of 3 as planned$/m);
    assert.match(stderr, /^! Service default\/web: metadata\.annotations\[\S+\] "nine" is not random/);
  });

  for (const { name: mode, network } of MODES) {
    // A demo that serves sockets moves its process to another control group, which tests of this process must not see.
    if (network) continue;
    test(`DEMO-9 the demo runs in ${mode} mode, or says why this machine cannot`, async () => {
      assertRuns(mode, await demo('examples', {}, '--proxy-mode', mode));
    });
  }

  test('DEMO-9 EBPF-66 the demo runs in ebpf mode, and its control group ends with it', async () => {
    const group = testControlGroup();
    // A demo that was killed left it.
    mkdirSync(join(group, 'pointsman-demo-0'));
    const args = ['demo', '--manifests', 'examples', '--once', '--proxy-mode', 'ebpf'];
    const child = spawn(KUBE_PROXY, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
    const [status] = await once(child, 'exit');
    assertRuns('ebpf', { status, stdout: await stdout, stderr: await stderr });
    assert.deepEqual(
      readdirSync(group).filter(name => name.startsWith('pointsman-demo-')),
      [],
    );
  });

  function assertRuns(mode: string, { status, stdout, stderr }: { status: number; stdout: string; stderr: string }) {
    if (status === 0) {
      assert.match(stdout, /^✓ all 36 as planned$/m);
      return;
    }
    assert.ok(!WORKING_MODES.includes(mode), stdout + stderr);
    const reason = new RegExp(
      `^Error: this machine cannot run ${mode} mode: .+\\nThis machine can run: nftables, .*iptables`,
    );
    assert.match(stderr, reason);
  }

  test('DEMO-9 a mode that does not exist is refused with a list of the modes', async () => {
    const { status, stderr } = await demo('examples', {}, '--proxy-mode', 'nft');
    assert.equal(status, 1);
    assert.match(stderr, /^Error: invalid argument "nft" for "--proxy-mode" flag: must be nftables, ebpf, ipvs, /);
  });

  test('DEMO-10 pods, Services and the node may have any addresses, such as those of k3s', async () => {
    const { status, stdout, stderr } = await demoOf(K3S, {}, '--hostname-override', 'k3s-1');
    assert.deepEqual([status, stderr], [0, ''], stdout);
    assert.match(stdout, /^✓ all 12 as planned$/m);
    for (const expected of [
      /ClusterIP +TCP 10\.43\.0\.10:80 +from outside +10\.42\.0\.5:8080 \d+% · 10\.42\.1\.7:8080 \d+%, as node$/m,
      /ExternalIP +TCP 192\.0\.2\.7:80 +from pod +10\.42\.0\.5:8080 \d+% · 10\.42\.1\.7:8080 \d+%, as node$/m,
      /NodePort +TCP 172\.20\.0\.5:30080 +from outside +10\.42\.0\.5:8080 /m,
      /ClusterIP +TCP \[fd43::1\]:80 +from pod +\[fd42:1::7\]:8080 \d+% · \[fd42::5\]:8080 \d+% as node$/m,
    ]) {
      assert.match(stdout, expected);
    }
  });

  test('DEMO-10 an endpoint in the network of the node sees callers from outside with their own address', async () => {
    const { status, stdout } = await demoOf(WEB.replace('EXTERNAL', '').replace('10.244.1.10', '192.168.0.2'));
    assert.equal(status, 0, stdout);
    assert.match(stdout, /from outside +192\.168\.0\.2:8080 100%$/m);
  });

  test('DEMO-10 an address of the Node that another machine of the demo has is a problem', async () => {
    const node =
      '---\napiVersion: v1\nkind: Node\nmetadata: {name: node-a}\nstatus: {addresses: [{type: InternalIP, address: 192.168.0.3}]}\n';
    const { status, stderr } = await demoOf(WEB.replace('EXTERNAL', '') + node);
    assert.equal(status, 1);
    assert.match(stderr, /^! the node cannot have 192\.168\.0\.3: another machine of the cluster has this address$/m);
  });

  test('DEMO-5 on a terminal, the demo shows the table in colours', async () => {
    const { stdout } = await demoOf(WEB.replace('EXTERNAL', ''), { isTTY: true, columns: 100 });
    assert.ok(stdout.startsWith('\x1b[1mPointsman\x1b[22m  nftables mode, 1 Service of '), stdout);
    assert.ok(!stdout.includes('\x1b[?1049h'), 'the alternate screen is not used');
  });

  test('DEMO-1 the flags are checked before the cluster is built', async () => {
    assert.equal((await runMain(['demo'])).status, 1);
    assert.equal((await runMain(['demo', 'extra'])).status, 1);
    assert.equal((await runMain(['demo', '--help'])).status, 0);
  });
});
