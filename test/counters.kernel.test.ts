import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Ip } from '../src/net/index.ts';
import { HttpClient } from './control-plane/http-client.ts';
import { Program } from './control-plane/program.ts';
import { createNodeNamespace } from './support/namespaces.ts';
import { parsePrometheusText } from './support/prometheus-text.ts';

const FLAGS = ['--hostname-override', 'node-a', '--cluster-cidr', '10.244.0.0/16,fd00:10:244::/48'];
const BROKEN = 'kind: Service\napiVersion: v1\nmetadata: { name: broken }\nspec: { ports: [{ port: 99999 }] }\n';
/** Counters that alerts ask for the increase of. */
const COUNTERS = [
  'pointsman_drift_repairs_total',
  'pointsman_sync_failures_total',
  'pointsman_kernel_refusals_total',
  'pointsman_service_ports_set_aside_total',
  'kubeproxy_conntrack_reconciler_deleted_entries_total',
];

for (const mode of ['nftables', 'iptables', 'userspace']) {
  test(`METRICS-24 METRICS-4 in ${mode} mode the program shows counters before their first event, and lists unusable objects`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'counters-'));
    const namespace = createNodeNamespace();
    cpSync('examples', folder, { recursive: true });
    writeFileSync(join(folder, 'broken.yaml'), BROKEN);
    const command = ['bin/kube-proxy', '--manifests', folder, ...FLAGS, '--proxy-mode', mode, '--inspect-socket='];
    const proxy = new Program('kube-proxy', command, { namespace });
    const read = async (port: number, path: string) => {
      const client = new HttpClient({ namespace, ip: '127.0.0.1' as Ip, port });
      try {
        return (await client.request({ method: 'GET', path })).text;
      } finally {
        client.close();
      }
    };
    try {
      await proxy.until('"Synced all service ports" ipFamily="IPv6"');
      const metrics = parsePrometheusText(await read(10_249, '/metrics'));
      for (const name of COUNTERS) {
        const samples = metrics.get(name)?.samples ?? [];
        for (const family of ['IPv4', 'IPv6'])
          assert.ok(
            samples.some(({ labels, value }) => labels.ip_family === family && value === 0),
            `${name} of ${family}`,
          );
      }
      const unusable = metrics.get('pointsman_input_problems_total')?.samples ?? [];
      const counted = unusable.filter(({ value }) => value > 0).map(({ labels, value }) => ({ ...labels, value }));
      assert.deepEqual(counted, [{ kind: 'Service', reason: 'invalid', value: 1 }]);
      const ready = await read(10_256, '/readyz?verbose');
      assert.match(ready, /^\[\+\]input ok: 1 problem; Service default\/broken spec\.ports\[0\]\.port: .*99999/m);
    } finally {
      await proxy.stop('SIGKILL');
      namespace.close();
      rmSync(folder, { recursive: true });
    }
  });
}
