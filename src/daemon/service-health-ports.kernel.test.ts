import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { HttpClient } from '../../test/control-plane/http-client.ts';
import { Program } from '../../test/control-plane/program.ts';
import { createNodeNamespace, NODE_IP } from '../../test/support/namespaces.ts';

const PORT = 32_111;
const MANIFESTS = `
apiVersion: v1
kind: Service
metadata: { name: web, namespace: default }
spec:
  type: LoadBalancer
  clusterIP: 10.96.0.10
  externalTrafficPolicy: Local
  healthCheckNodePort: ${PORT}
  ports: [{ name: http, port: 80 }]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: web-1, namespace: default, labels: { kubernetes.io/service-name: web } }
addressType: IPv4
ports: [{ name: http, port: 8080 }]
endpoints: [{ addresses: [10.244.1.10], nodeName: node-a, conditions: { ready: true } }]
`;

test('HEALTH-13 health check node ports answer even if the proxy has no health server', async () => {
  const namespace = createNodeNamespace();
  const folder = mkdtempSync(join(tmpdir(), 'health-ports-'));
  writeFileSync(join(folder, 'web.yaml'), MANIFESTS);
  const flags = ['--hostname-override=node-a', '--cluster-cidr=10.244.0.0/16,fd00:10:244::/48', '--healthz-port=0'];
  const program = new Program('kube-proxy', ['bin/kube-proxy', '--manifests', folder, ...flags, '--inspect-socket='], {
    namespace,
  });
  const at = (port: number) => new HttpClient({ namespace, ip: NODE_IP, port });
  const [client, healthz] = [at(PORT), at(10_256)];
  const ask = () => client.request({ method: 'GET', path: '/' });
  try {
    await program.waitFor('answer', async () => (await ask()).status === 200, 30_000);
    assert.match((await ask()).text, /"localEndpoints": 1/);
    await assert.rejects(healthz.request({ method: 'GET', path: '/healthz' }), /ECONNREFUSED/);
  } finally {
    client.close();
    healthz.close();
    await program.stop('SIGKILL');
    rmSync(folder, { recursive: true });
    namespace.close();
  }
});
