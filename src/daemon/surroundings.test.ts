import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rememberingLog } from '../../test/support/log.ts';
import { applyFeatureGates, defaultConfiguration } from '../config/index.ts';
import { DEFAULT_LOGGING, type Logger, Logging } from '../logging/index.ts';
import { Closers } from './closers.ts';
import { Ending } from './ending.ts';
import type { DaemonOptions } from './options.ts';
import { openSurroundings } from './surroundings.ts';

test('METRICS-3 gates are told as they are set, those that set others too', async () => {
  const { log } = rememberingLog();
  const closers = new Closers(log);
  const ending = new Ending(log);
  closers.add('signals', () => ending.close());
  try {
    const { metrics } = await openSurroundings(
      optionsFor(log, new Map([['AllAlpha', true]])),
      'node-a',
      closers,
      ending,
    );
    const text = await metrics.text();
    assert.match(text, /^kubernetes_feature_enabled\{name="AllAlpha",stage="ALPHA"\} 1$/m);
    assert.match(text, /^kubernetes_feature_enabled\{name="AllBeta",stage="BETA"\} 0$/m);
    assert.match(text, /^kubernetes_feature_enabled\{name="ComponentFlagz",stage="BETA"\} 1$/m);
  } finally {
    await closers.close();
  }
});

test('METRICS-4 a proxy that still waits for its objects is told to be unhealthy', async () => {
  const { log } = rememberingLog();
  const closers = new Closers(log);
  const ending = new Ending(log);
  closers.add('signals', () => ending.close());
  try {
    const { metrics } = await openSurroundings(optionsFor(log), 'node-a', closers, ending);
    assert.match(await metrics.text(), /^pointsman_healthy 0$/m);
  } finally {
    await closers.close();
  }
});

function optionsFor(log: Logger, set: ReadonlyMap<string, boolean> = new Map()): DaemonOptions {
  const gates = applyFeatureGates(set);
  assert.ok(gates.kind === 'gates');
  return {
    configuration: defaultConfiguration(),
    gates: gates.gates,
    configFile: '',
    configText: '',
    reload: () => defaultConfiguration(),
    master: '',
    // Without servers.
    initOnly: true,
    manifests: undefined,
    countConnections: false,
    kubernetesVersion: 'v1.36.4',
    flags: () => [],
    log,
    logControl: new Logging({ stdout: process.stdout, stderr: process.stderr }, DEFAULT_LOGGING),
  };
}
