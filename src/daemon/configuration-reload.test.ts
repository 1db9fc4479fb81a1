import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { rememberingLog } from '../../test/support/log.ts';
import { applyFeatureGates, type Configuration, loadConfiguration, validateConfiguration } from '../config/index.ts';
import { History } from '../history/index.ts';
import { systemClock } from '../lib/clock.ts';
import { DEFAULT_LOGGING, Logging } from '../observe/logging/index.ts';
import { ProxyMetrics } from '../observe/metrics/index.ts';
import { ConfigurationReload } from './configuration-reload.ts';
import { buildInfo } from './version-info.ts';

const HEAD = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: nftables\n';

function read(text: string): Configuration {
  const { configuration } = loadConfiguration(text);
  const [error] = validateConfiguration(configuration);
  if (error) throw new Error(`${error.path} is wrong`);
  return configuration;
}

test('START-11, HISTORY-9 a changed file is applied if that is safe, else ends the process, and is refused if it is not valid', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reload-'));
  const file = join(folder, 'config.conf');
  const write = async (text: string) => {
    writeFileSync(file, HEAD + text);
    await delay(250);
  };
  writeFileSync(file, HEAD);
  const { log, lines } = rememberingLog();
  const gates = applyFeatureGates(new Map());
  assert.ok(gates.kind === 'gates');
  const metrics = new ProxyMetrics({
    hasPartialSyncMetrics: true,
    clock: systemClock,
    build: buildInfo('v1.36.4'),
    features: [],
  });
  const history = new History();
  const applied: Configuration[] = [];
  const restarts: string[] = [];
  const reload = new ConfigurationReload({
    options: {
      configuration: read(HEAD),
      gates: gates.gates,
      isModeDefaulted: false,
      configFile: file,
      configText: HEAD,
      reload: read,
      master: '',
      initOnly: false,
      allowLoopbackEndpoints: false,
      countConnections: false,
      keepNodeSourcePorts: false,
      inspectSocket: '',
      inspectBindAddress: '',
      page: undefined,
      version: '0.1.0',
      manifests: undefined,
      kubernetesVersion: 'v1.36.4',
      flags: () => [],
      log,
      logControl: new Logging({ stdout: process.stdout, stderr: process.stderr }, DEFAULT_LOGGING),
    },
    metrics,
    history,
    apply: configuration => applied.push(configuration),
    restart: error => restarts.push(error.message),
  });
  try {
    await write('nftables: {syncPeriod: 20s}\n');
    assert.equal(applied[0]?.syncPeriod, 20_000_000_000n);
    await write('nftables: {syncPeriod: -1s}\n');
    assert.deepEqual(reload.problem, { where: file, message: 'KubeProxyConfiguration.SyncPeriod is wrong' });
    assert.match(await metrics.text(), /^pointsman_configuration_refused 1$/m);
    await write('nftables: {syncPeriod: 20s}\n');
    assert.equal(reload.problem, undefined);
    assert.match(await metrics.text(), /^pointsman_configuration_refused 0$/m);
    assert.equal(applied.length, 1, 'a configuration that the proxy already has is not applied again');
    assert.equal(lines.at(-1), 'I The configuration file is valid again {}');
    assert.deepEqual(restarts, []);
    await write('nftables: {syncPeriod: 20s}\nmetricsBindAddress: 127.0.0.1:10250\n');
    assert.deepEqual(restarts, ["content of the proxy server's configuration file was updated"]);
    assert.match(lines.at(-1) ?? '', /"fields":\["metricsBindAddress"\]/);
    assert.deepEqual(
      history.entries().map(({ kind, change }) => `${kind}: ${change}`),
      [
        'configuration: changed: syncPeriod',
        'configuration: refused the changed file: KubeProxyConfiguration.SyncPeriod is wrong',
      ],
    );
  } finally {
    reload.close();
    metrics.close();
    rmSync(folder, { recursive: true });
  }
});
