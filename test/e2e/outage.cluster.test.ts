import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { service, slice } from './objects.ts';
import { Stage } from './stage.ts';

const OUTAGE_MS = 60_000;
/** After so long an outage the proxy asks again every half minute, and up to as much later. */
const RECOVERY_MS = 75_000;
const IP = '10.96.4.1';
const POD_A = '10.244.1.30';
const POD_B = '10.244.1.31';

describe('an API server that is away for a minute', () => {
  let stage: Stage;

  before(async () => {
    stage = await Stage.open();
    await stage.node.addPod(POD_A);
    await stage.node.addPod(POD_B);
  });

  after(() => stage?.close());

  test('E2E-8 rules stay and connections work meanwhile; what changes afterwards is caught up with', async () => {
    const { cluster, node } = stage;
    await cluster.apply(service('web', IP));
    await cluster.apply(slice('web-1', [POD_A]));
    const proxy = await stage.run();
    await cluster.stopApiserver();
    const end = performance.now() + OUTAGE_MS;
    await proxy.until(/Failed to follow.*the API server 192\.168\.0\.2:6443 refused the connection: .*services/);
    while (performance.now() < end) {
      assert.equal(await node.ask(IP), POD_A);
      assert.equal((await node.health('/healthz')).status, 200);
      assert.equal((await node.health('/livez')).status, 200);
      await delay(500);
    }
    await cluster.startApiserver();
    await cluster.apply(slice('web-1', [POD_B]));
    await cluster.apply(service('late', '10.96.4.2'));
    await stage.untilEndpoints(IP, [POD_B], RECOVERY_MS);
    await stage.until('know late', () => node.knows('10.96.4.2'), RECOVERY_MS);
    await proxy.until('"Is followed again" where="/api/v1/services"');
    assert.equal(await node.ask(IP), POD_B);
  });
});
