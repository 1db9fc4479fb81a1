import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { rememberingLog } from '../../test/support/log.ts';
import { applyFeatureGates, defaultConfiguration } from '../config/index.ts';
import { DEFAULT_LOGGING, type Logger, Logging } from '../observe/logging/index.ts';
import { openObservability, ServerFailures } from './observability.ts';
import type { DaemonOptions } from './options.ts';
import { OpenResources, Shutdown } from './shutdown.ts';

test('METRICS-3 the metrics show all feature gates, also AllAlpha and AllBeta', async () => {
  const { log } = rememberingLog();
  const resources = new OpenResources(log);
  const shutdown = new Shutdown(log);
  resources.add('signals', () => shutdown.close());
  try {
    const { metrics } = await openObservability(
      optionsFor(
        log,
        new Map([
          ['AllAlpha', true],
          ['SidecarContainers', true],
        ]),
      ),
      'node-a',
      resources,
      shutdown,
    );
    const text = await metrics.text();
    assert.match(text, /^kubernetes_feature_enabled\{name="AllAlpha",stage="ALPHA"\} 1$/m);
    assert.match(text, /^kubernetes_feature_enabled\{name="AllBeta",stage="BETA"\} 0$/m);
    assert.match(text, /^kubernetes_feature_enabled\{name="ComponentFlagz",stage="BETA"\} 1$/m);
    assert.match(text, /^kubernetes_feature_enabled\{name="KubeProxyIPVS",stage="DEPRECATED"\} 1$/m);
    assert.doesNotMatch(text, /SidecarContainers/, 'CONF-37 a gate that only v1.36 has is not shown');
  } finally {
    await resources.close();
  }
});

test('METRICS-4 the metrics show a proxy that still waits for its objects as unhealthy', async () => {
  const { log } = rememberingLog();
  const resources = new OpenResources(log);
  const shutdown = new Shutdown(log);
  resources.add('signals', () => shutdown.close());
  try {
    const { metrics } = await openObservability(optionsFor(log), 'node-a', resources, shutdown);
    assert.match(await metrics.text(), /^pointsman_healthy 0$/m);
  } finally {
    await resources.close();
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
  test(`HEALTH-11 with bindAddressHardFail a ${server} that cannot listen ends the process, once an Event of it can be written`, async () => {
    const { log } = rememberingLog();
    const resources = new OpenResources(log);
    const shutdown = new Shutdown(log);
    resources.add('signals', () => shutdown.close());
    const other = createServer();
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    assert.ok(address !== null && typeof address === 'object');
    const reasons: string[] = [];
    try {
      const { connectEvents } = await openObservability(
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
        resources,
        shutdown,
      );
      await nextTurn();
      assert.equal(shutdown.isRequested, false, 'no Event can be written yet');
      connectEvents({
        async request({ body }) {
          reasons.push(JSON.parse(Buffer.from(body ?? []).toString()).reason);
          return { status: 201, headers: {}, body: (async function* () {})() };
        },
        close() {},
      });
      await nextTurn();
      assert.ok(shutdown.isRequested);
      await assert.rejects(shutdown.requested, ({ message }: Error) => message.startsWith(text));
    } finally {
      await resources.close();
      other.close();
    }
    assert.deepEqual(reasons, [reason]);
  });
}

test('HEALTH-11 a later failure ends the process at once, with the first failure as the reason', async () => {
  const { log } = rememberingLog();
  const shutdown = new Shutdown(log);
  try {
    const failures = new ServerFailures(shutdown);
    failures.release();
    failures.add(new Error('first'));
    failures.add(new Error('second'));
    await assert.rejects(shutdown.requested, { message: 'first' });
  } finally {
    shutdown.close();
  }
});

function optionsFor(log: Logger, set: ReadonlyMap<string, boolean> = new Map()): DaemonOptions {
  const gates = applyFeatureGates(set);
  assert.ok(gates.kind === 'gates');
  return {
    configuration: defaultConfiguration(),
    gates: gates.gates,
    isModeDefaulted: false,
    configFile: '',
    configText: '',
    reload: () => defaultConfiguration(),
    master: '',
    // Opens no servers.
    initOnly: true,
    manifests: undefined,
    allowLoopbackEndpoints: false,
    countConnections: false,
    keepNodeSourcePorts: false,
    inspectSocket: '',
    inspectBindAddress: '',
    page: undefined,
    version: '0.1.0',
    kubernetesVersion: 'v1.36.4',
    flags: () => [],
    log,
    logControl: new Logging({ stdout: process.stdout, stderr: process.stderr }, DEFAULT_LOGGING),
  };
}
