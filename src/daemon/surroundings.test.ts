import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { rememberingLog } from '../../test/support/log.ts';
import { applyFeatureGates, defaultConfiguration } from '../config/index.ts';
import { DEFAULT_LOGGING, type Logger, Logging } from '../observe/logging/index.ts';
import { Closers } from './closers.ts';
import { Ending } from './ending.ts';
import type { DaemonOptions } from './options.ts';
import { Failures, openSurroundings } from './surroundings.ts';

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

for (const { server, taken, reason, text } of [
  {
    server: 'health server',
    taken: 'healthzBindAddress',
    reason: 'FailedToStartProxierHealthcheck',
    text: 'healthz server failed: failed to start proxy healthz on ',
  },
  {
    server: 'metrics server',
    taken: 'metricsBindAddress',
    reason: 'FailedToStartMetricServer',
    text: 'failed to start metrics server on ',
  },
] as const) {
  test(`HEALTH-11 with bindAddressHardFail a ${server} that cannot listen ends the process, once an Event can tell of it`, async () => {
    const { log } = rememberingLog();
    const closers = new Closers(log);
    const ending = new Ending(log);
    closers.add('signals', () => ending.close());
    const other = createServer();
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    assert.ok(address !== null && typeof address === 'object');
    const reasons: string[] = [];
    try {
      const { connected } = await openSurroundings(
        {
          ...optionsFor(log),
          initOnly: false,
          configuration: {
            ...defaultConfiguration(),
            healthzBindAddress: '127.0.0.1:0',
            metricsBindAddress: '127.0.0.1:0',
            [taken]: `127.0.0.1:${address.port}`,
            bindAddressHardFail: true,
          },
        },
        'node-a',
        closers,
        ending,
      );
      await nextTurn();
      assert.equal(ending.isReached, false, 'nobody could be told yet');
      connected({
        async request({ body }) {
          reasons.push(JSON.parse(Buffer.from(body ?? []).toString()).reason);
          return { status: 201, headers: {}, body: (async function* () {})() };
        },
        close() {},
      });
      await nextTurn();
      assert.ok(ending.isReached);
      await assert.rejects(ending.reached, ({ message }: Error) => message.startsWith(text));
    } finally {
      await closers.close();
      other.close();
    }
    assert.deepEqual(reasons, [reason]);
  });
}

test('HEALTH-11 one that fails later ends the process at once; the first failure is the one that is told', async () => {
  const { log } = rememberingLog();
  const ending = new Ending(log);
  try {
    const failures = new Failures(ending);
    failures.release();
    failures.add(new Error('first'));
    failures.add(new Error('second'));
    await assert.rejects(ending.reached, { message: 'first' });
  } finally {
    ending.close();
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
