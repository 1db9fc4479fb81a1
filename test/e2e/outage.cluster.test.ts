import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { service, slice } from './objects.ts';
import { Stage } from './stage.ts';

const IP = '10.96.2.1';
const POD_A = '10.244.1.20';
const POD_B = '10.244.1.21';
/** Long enough for waits that double to become much longer than the recovery. */
const OUTAGE_MS = 20_000;
const RECOVERY_MS = 4000;

test('E2E-39 after an outage of the API server the proxy is soon up to date, and it asked once a second', async () => {
  const stage = await Stage.open();
  try {
    const { cluster, node } = stage;
    await cluster.apply(service('web', IP));
    await cluster.apply(slice('web-1', [POD_A]));
    await stage.run();
    const attempts = async () => {
      const { text } = await node.metricsServer('/metrics');
      return Number(/^rest_client_requests_total\{code="<error>".*?\} (\d+)$/m.exec(text)?.[1] ?? 0);
    };
    await cluster.stopApiserver('SIGKILL');
    await delay(OUTAGE_MS);
    const count = await attempts();
    assert.ok(count > 40 && count < 200, `${count} requests of four resources failed`);
    await cluster.startApiserver();
    await cluster.apply(slice('web-1', [POD_B]));
    await stage.untilEndpoints(IP, [POD_B], RECOVERY_MS);
  } finally {
    await stage.close();
  }
});
