import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { main } from '../main.ts';

async function demo(manifests: string, stream: { isTTY?: boolean; columns?: number } = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const status = await main(['demo', '--manifests', manifests, '--once'], {
    stdout: { write: (text: string) => out.push(text), ...stream },
    stderr: { write: (text: string) => err.push(text) },
    env: { TERM: 'xterm' },
  });
  return { status, stdout: out.join(''), stderr: err.join('') };
}

async function demoOf(manifest: string, stream?: { isTTY?: boolean; columns?: number }) {
  const folder = mkdtempSync(join(tmpdir(), 'demo-'));
  try {
    writeFileSync(join(folder, 'objects.yaml'), manifest);
    return await demo(folder, stream);
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
    // The machine outside has no route to this address.
    const { status, stdout } = await demoOf(WEB.replace('EXTERNAL', '192.0.2.1'));
    assert.equal(status, 1, stdout);
    assert.match(
      stdout,
      /^✗ default\/web:http .* 192\.0\.2\.1:80 +from outside +ENETUNREACH; but 10\.244\.1\.10:8080 /m,
    );
    assert.match(stdout, /^✓ default\/web:http .* 192\.0\.2\.1:80 +from pod +10\.244\.1\.10:8080 100% as node$/m);
    assert.match(stdout, /^✗ 1 of 6 not as planned$/m);
  });

  test('DEMO-3 a problem in the manifests is reported, and the exit status is 1', async () => {
    const metadata = 'metadata: {annotations: {pointsman.dev/balance: nine}, name: web';
    const { status, stdout, stderr } = await demoOf(
      WEB.replace('EXTERNAL', '').replace('metadata: {name: web', metadata),
    );
    assert.equal(status, 1);
    assert.match(stdout, /✓ all 3 as planned/);
    assert.match(stderr, /^! Service default\/web: metadata\.annotations\[\S+\] "nine" is not round-robin/);
  });

  test('DEMO-3 an endpoint that no machine of the cluster can have is reported', async () => {
    const elsewhere = WEB.replace('EXTERNAL', '').replace('10.244.1.10', '10.9.9.9');
    const { status, stderr } = await demoOf(elsewhere);
    assert.equal(status, 1);
    assert.match(
      stderr,
      /! no echo server can run at 10\.9\.9\.9 TCP port 8080: no machine of the cluster has 10\.9\.9\.9/,
    );
  });

  test('DEMO-5 on a terminal, the demo shows the table in colours', async () => {
    const { stdout } = await demoOf(WEB.replace('EXTERNAL', ''), { isTTY: true, columns: 100 });
    assert.ok(stdout.startsWith('\x1b[1mPointsman\x1b[22m  nftables mode, 1 Service of '), stdout);
    assert.ok(!stdout.includes('\x1b[?1049h'), 'the alternate screen is not used');
  });

  test('DEMO-1 the flags are checked before the cluster is built', async () => {
    const io = { stdout: { write: () => true }, stderr: { write: () => true }, env: {} };
    assert.equal(await main(['demo'], io), 1);
    assert.equal(await main(['demo', 'extra'], io), 1);
    assert.equal(await main(['demo', '--help'], io), 0);
  });
});
