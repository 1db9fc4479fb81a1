import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rememberingLog } from '../../test/support/log.ts';
import { applyFeatureGates, defaultConfiguration } from '../config/index.ts';
import { DEFAULT_LOGGING, Logging } from '../logging/index.ts';
import { Closers } from './closers.ts';
import { Ending } from './ending.ts';
import { openSurroundings } from './surroundings.ts';

test('METRICS-4 a proxy that still waits for its objects is told to be unhealthy', async () => {
  const { log } = rememberingLog();
  const closers = new Closers(log);
  const ending = new Ending(log);
  closers.add('signals', () => ending.close());
  const gates = applyFeatureGates(new Map());
  assert.ok(gates.kind === 'gates');
  const options = {
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
  try {
    const { metrics } = await openSurroundings(options, 'node-a', closers, ending);
    assert.match(await metrics.text(), /^pointsman_healthy 0$/m);
  } finally {
    await closers.close();
  }
});
