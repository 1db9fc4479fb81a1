import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { proxyConfigurationText } from '../control-plane/proxy-configuration.ts';
import { service } from './objects.ts';
import { Stage } from './stage.ts';

const APPLIED = 'The configuration changed and is applied';

describe('the configuration changes while the proxy runs', () => {
  let stage: Stage;
  const folder = mkdtempSync(join(tmpdir(), 'reload-'));

  before(async () => {
    stage = await Stage.open();
  });

  afterEach(() => stage.proxy.stop());

  after(async () => {
    await stage?.close();
    rmSync(folder, { recursive: true });
  });

  function text(configuration: Readonly<Record<string, unknown>>): string {
    const nftables = { minSyncPeriod: '10ms', syncPeriod: '30s' };
    return proxyConfigurationText(stage.cluster.kubeconfig('proxy'), { nftables, ...configuration });
  }

  test('E2E-30 the proxy applies verbosity, sync periods and OOM score at once, refuses invalid files, and ends with status 1 for another mode', async () => {
    const { node, cluster } = stage;
    const file = join(folder, 'config.conf');
    writeFileSync(file, text({}));
    const proxy = await stage.run({}, { args: ['--config', file] });
    await cluster.apply(service('quiet', '10.96.7.1'));
    await stage.until('know quiet', () => node.knows('10.96.7.1'));
    assert.ok(!proxy.lines.some(line => line.includes('"Synced the service ports that changed" ipFamily')));
    const nftables = { minSyncPeriod: '20ms', syncPeriod: '77s' };
    const changed = { nftables, logging: { verbosity: 4 }, oomScoreAdj: 322 };
    writeFileSync(file, text(changed));
    const applied = await proxy.until(APPLIED);
    assert.match(proxy.lines[applied - 1] ?? '', /fields=\[.*"logging\.verbosity"/);
    const oomScore = () => readFileSync(`/proc/${proxy.pid}/oom_score_adj`, 'utf8');
    await stage.until('have the score', () => oomScore() === '322\n');
    await cluster.apply(service('loud', '10.96.7.2'));
    await proxy.until('"Synced the service ports that changed" ipFamily="IPv4"', { from: applied });
    assert.match((await node.metricsServer('/configz')).text, /"syncPeriod":"1m17s"/);

    writeFileSync(file, text({ nftables: { syncPeriod: '-1s' } }));
    await proxy.until(/The changed configuration file is not valid.*syncPeriod/i);
    const { status, text: ready } = await node.health('/readyz?verbose');
    assert.equal(status, 503);
    assert.match(ready, /^\[-\]configuration failed: .*syncPeriod.*$/im);
    assert.equal((await node.health('/healthz')).status, 200);
    assert.equal((await node.metric('pointsman_configuration_refused'))[0]?.value, 1);
    assert.equal((await node.metric('pointsman_configuration_refusals_total'))[0]?.value, 1);
    assert.match((await node.metricsServer('/configz')).text, /"syncPeriod":"1m17s"/);

    writeFileSync(file, text(changed));
    await proxy.until('The configuration file is valid again');
    await stage.until('be ready again', async () => (await node.health('/readyz')).status === 200);
    assert.equal((await node.metric('pointsman_configuration_refused'))[0]?.value, 0);

    writeFileSync(file, text({ mode: 'iptables' }));
    assert.deepEqual(await proxy.exit, { status: 1, signal: null });
    const words = `"command failed" err="content of the proxy server's configuration file was updated"`;
    assert.ok(proxy.lines.some(line => line.includes(words)));
    assert.ok(node.knows('10.96.7.1'));
  });

  test('E2E-31 the running proxy notices that its ConfigMap is replaced', async () => {
    const volume = join(folder, 'volume');
    /** Does what the kubelet does: writes a new folder, and renames a new link over the former link. */
    const mount = (name: string, configuration: Readonly<Record<string, unknown>>) => {
      mkdirSync(join(volume, name), { recursive: true });
      writeFileSync(join(volume, name, 'config.conf'), text(configuration));
      symlinkSync(name, join(volume, '..data_tmp'));
      renameSync(join(volume, '..data_tmp'), join(volume, '..data'));
    };
    mount('..first', {});
    symlinkSync('..data/config.conf', join(volume, 'config.conf'));
    const proxy = await stage.run({}, { args: ['--config', join(volume, 'config.conf')] });
    mount('..second', { logging: { verbosity: 3 } });
    rmSync(join(volume, '..first'), { recursive: true });
    const applied = await proxy.until(APPLIED);
    mount('..third', { logging: { verbosity: 1 } });
    rmSync(join(volume, '..second'), { recursive: true });
    await proxy.until(APPLIED, { from: applied });
  });
});
