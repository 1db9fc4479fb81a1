import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { changedPaths } from './changed-paths.ts';
import { dataOf, InstallCluster } from './cluster.ts';
import { programFrom } from './shell.ts';

const PAGE = 'monitoring';

describe('the page about monitoring, with the definitions of the Prometheus operator', () => {
  let cluster: InstallCluster;

  before(async () => {
    cluster = await InstallCluster.start();
    await cluster.installWithKubeadm();
    const folder = programFrom('PROMETHEUS_OPERATOR_CRDS');
    for (const kind of ['podmonitors', 'prometheusrules'])
      await cluster.shell.run(`kubectl apply --server-side -f ${folder}/monitoring.coreos.com_${kind}.yaml
kubectl wait crd/${kind}.monitoring.coreos.com --for=condition=Established`);
  });

  after(() => cluster?.close());

  test('INST-12 the page opens the metrics port and changes no other field of the configuration', async () => {
    const configuration = async () => dataOf(await cluster.read('ConfigMap', 'kube-proxy'))['config.conf']?.split('\n');
    const former = await configuration();
    await cluster.runPage(PAGE, 'Let Prometheus reach the metrics');
    const now = (await configuration()) ?? [];
    assert.deepEqual(
      now.filter((line, i) => line !== former?.[i]),
      ['metricsBindAddress: 0.0.0.0:10249'],
    );
    assert.equal(now.length, former?.length);
  });

  test('INST-12 the API server accepts the objects with the definitions of the operator, with both kinds of apply', async () => {
    const [apply = '', label = '', chart = ''] = cluster.blocks(PAGE, 'With the Prometheus operator');
    await cluster.shell.run(apply);
    const former = await applied();
    await cluster.shell.run(apply);
    await cluster.shell.run(apply.replace('apply', 'apply --server-side --force-conflicts'));
    assert.deepEqual(changedPaths(former, await applied()), []);
    await cluster.shell.run(label);
    assert.deepEqual(changedPaths(former, await applied()), [
      'podMonitor.metadata.labels.release',
      'rule.metadata.labels.release',
    ]);
    await cluster.shell.run(chart);
    await cluster.shell.run('kubectl apply --dry-run=server --server-side --force-conflicts -f objects.yaml');
    const documents = parseAllDocuments(await cluster.shell.run('cat objects.yaml')).map(document => document.toJS());
    const rule = documents.find(document => document?.kind === 'PrometheusRule');
    const url = rule.spec.groups[0].rules[0].annotations.runbook_url;
    assert.equal(url, 'https://wiki.example.com/pointsman/runbook#kubeproxydown');
  });

  async function applied() {
    return {
      podMonitor: await cluster.read('PodMonitor', 'pointsman'),
      rule: await cluster.read('PrometheusRule', 'pointsman'),
      dashboard: await cluster.read('ConfigMap', 'pointsman-dashboard'),
    };
  }

  test('INST-12 promtool accepts the scrape configuration of the page', () => {
    const [, configuration = ''] = /```yaml\n([^`]+)```/.exec(readFileSync('docs/install/monitoring.md', 'utf8')) ?? [];
    const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
    try {
      copyFileSync('deploy/monitoring/alerts.yaml', join(folder, 'alerts.yaml'));
      // Debian builds promtool without service discovery.
      const known = configuration.replace(/kubernetes_sd_configs: .*/, 'static_configs: [{ targets: [node-a] }]');
      writeFileSync(join(folder, 'prometheus.yaml'), known);
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'config', join(folder, 'prometheus.yaml')], {
        encoding: 'utf8',
      });
      assert.equal(status, 0, stdout + stderr);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('INST-4 these tests ran every block of the page', () => cluster.assertRanAll(PAGE));
});
