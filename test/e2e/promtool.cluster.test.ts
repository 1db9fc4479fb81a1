import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { service, slice } from './objects.ts';
import { Stage } from './stage.ts';

function promtool(args: readonly string[], input = ''): { status: number | null; lines: readonly string[] } {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { input, encoding: 'utf8', timeout: 30_000 });
  assert.equal(error, undefined);
  return { status, lines: `${stdout}${stderr}`.split('\n').filter(line => line !== '') };
}

describe('metrics and alerts in Prometheus', () => {
  let stage: Stage;

  before(async () => {
    stage = await Stage.open();
    await stage.run();
  });

  after(() => stage?.close());

  test('E2E-33 promtool complains only about one metric, which has its name from upstream', async () => {
    const { cluster, node } = stage;
    await cluster.apply(service('measured', '10.96.1.9'));
    await cluster.apply(slice('measured-1', ['10.244.1.10']));
    await stage.untilEndpoints('10.96.1.9', ['10.244.1.10']);
    const { text } = await node.metricsServer('/metrics');
    const { lines } = promtool(['check', 'metrics'], text);
    const others = lines.filter(line => !line.startsWith('kubeproxy_sync_proxy_rules_no_local_endpoints_total '));
    assert.deepEqual(others, []);
  });

  test('E2E-34 promtool accepts the alert rules, and they fire when they should', () => {
    const rules = promtool(['check', 'rules', 'deploy/monitoring/alerts.yaml']);
    assert.equal(rules.status, 0, rules.lines.join('\n'));
    const tests = promtool(['test', 'rules', 'deploy/monitoring/alerts.test.yaml']);
    assert.equal(tests.status, 0, tests.lines.join('\n'));
  });
});
