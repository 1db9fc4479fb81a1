import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Ip } from '../src/net/index.ts';
import { HttpClient } from './control-plane/http-client.ts';
import { Program } from './control-plane/program.ts';
import { proxyConfigurationText } from './control-plane/proxy-configuration.ts';
import { kubeconfigText } from './control-plane/users.ts';
import { createNodeNamespace } from './support/namespaces.ts';

/** What the kubelet sends, and what load balancers send. */
const KUBELET = 'kube-probe/1.36';
const LOAD_BALANCERS = ['GoogleHC/1.0', 'ELB-HealthChecker/2.0', 'Load Balancer Agent'];

test('HEALTH-26 the kubelet does not restart a proxy that waits for its API server, whatever path it probes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'liveness-'));
  const namespace = createNodeNamespace();
  const kubeconfig = join(folder, 'kubeconfig');
  const configuration = join(folder, 'config.yaml');
  // Nothing listens there.
  writeFileSync(kubeconfig, kubeconfigText('proxy', 'https://127.0.0.1:1', ''));
  writeFileSync(configuration, proxyConfigurationText(kubeconfig, {}));
  const proxy = new Program('kube-proxy', ['bin/kube-proxy', '--config', configuration, '--inspect-socket='], {
    namespace,
  });
  const client = new HttpClient({ namespace, ip: '127.0.0.1' as Ip, port: 10_256 });
  const statusOf = async (path: string, agent: string) =>
    (await client.request({ method: 'GET', path, headers: { 'user-agent': agent } })).status;
  try {
    await proxy.until('refused the connection');
    assert.equal(await statusOf('/livez', KUBELET), 200);
    assert.equal(await statusOf('/healthz', KUBELET), 200);
    for (const agent of LOAD_BALANCERS) assert.equal(await statusOf('/healthz', agent), 503, agent);
    assert.equal(await statusOf('/readyz', KUBELET), 503);
  } finally {
    client.close();
    await proxy.stop('SIGKILL');
    namespace.close();
    rmSync(folder, { recursive: true });
  }
});
