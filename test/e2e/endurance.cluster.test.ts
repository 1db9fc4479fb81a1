import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { canonicalRuleset, nft } from '../support/nftables-mode.ts';
import { Churn } from './churn.ts';
import { service, slice } from './objects.ts';
import { Stage } from './stage.ts';

const MINUTE_MS = 60_000;
/** After such an outage the proxy retries every half minute, plus a random time of up to half a minute. */
const RECOVERY_MS = 75_000;
const POD_A = '10.244.1.30';
const POD_B = '10.244.1.31';
const SEED = 20_260_117;
/** The shortest time between two changes. */
const PACE_MS = 15;

// Each test has its own control plane and mostly waits.
describe('endurance', { concurrency: 2 }, () => {
  test('E2E-8 a minute without an API server: rules stay, connections work, and later changes reach the kernel', async t => {
    const stage = await Stage.open();
    t.after(() => stage.close());
    const { cluster, node } = stage;
    const ip = '10.96.4.1';
    await node.addPod(POD_A);
    await node.addPod(POD_B);
    await cluster.apply(service('web', ip));
    await cluster.apply(slice('web-1', [POD_A]));
    const proxy = await stage.run();
    await cluster.stopApiserver();
    const end = performance.now() + MINUTE_MS;
    await proxy.until(
      /Could not watch a resource.*the API server 192\.168\.0\.2:6443 refused the connection: .*services/,
    );
    while (performance.now() < end) {
      assert.equal(await node.ask(ip), POD_A);
      assert.equal((await node.health('/healthz')).status, 200);
      assert.equal((await node.health('/livez')).status, 200);
      await delay(500);
    }
    await cluster.startApiserver();
    await cluster.apply(slice('web-1', [POD_B]));
    await cluster.apply(service('late', '10.96.4.2'));
    await stage.untilEndpoints(ip, [POD_B], RECOVERY_MS);
    await stage.until('know late', () => node.knows('10.96.4.2'), RECOVERY_MS);
    await proxy.until('"The resource is watched again" where="/api/v1/services"');
    assert.equal(await node.ask(ip), POD_B);
  });

  test('E2E-32 a minute of changes to a thousand objects: in the end the kernel is as after a fresh start', async t => {
    const stage = await Stage.open();
    t.after(() => stage.close());
    const { cluster, node } = stage;
    const proxy = await stage.run({ nftables: { minSyncPeriod: '100ms' } });
    const churn = new Churn(SEED);
    const end = performance.now() + MINUTE_MS;
    let changes = 0;
    for (; performance.now() < end; changes++) {
      const { verb, object } = churn.next();
      if (verb === 'apply') await cluster.apply(object);
      else await cluster.delete(object);
      await delay(PACE_MS);
    }
    assert.ok(changes > 1000, `${changes} changes`);
    await cluster.apply(service('last', '10.96.4.3'));
    await cluster.apply(slice('last-1', [POD_A]));
    await stage.untilEndpoints('10.96.4.3', [POD_A]);
    const churned = await settled(stage);
    assert.deepEqual(
      proxy.lines.filter(line => /^[EW]/.test(line)),
      [],
    );
    await proxy.stop();
    nft(cluster.namespace, 'flush', 'ruleset');
    await stage.run();
    await stage.untilEndpoints('10.96.4.3', [POD_A]);
    const fresh = await settled(stage);
    assert.ok(node.clusterIPs('IPv4').length > 100 && node.clusterIPs('IPv6').length > 100);
    assert.ok(churned === fresh, firstDifference(churned, fresh));
  });
});

/** The ruleset when it no longer changes: the proxy removes unused chains a little later. */
async function settled({ cluster: { namespace } }: Stage): Promise<string> {
  for (let before = canonicalRuleset(namespace); ; ) {
    await delay(2500);
    const now = canonicalRuleset(namespace);
    if (now === before) return now;
    before = now;
  }
}

function firstDifference(one: string, other: string): string {
  const lines = other.split('\n');
  const index = one.split('\n').findIndex((line, at) => line !== lines[at]);
  return `line ${index}: ${one.split('\n')[index]}\nafter a fresh start: ${lines[index]}`;
}
