import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import type { Node } from '../../api/index.ts';
import type { Family } from '../../net/index.ts';
import { ProxyHealth } from './index.ts';

const TIMEOUT_MS = 60_000;

function setUp(families: readonly Family[] = ['IPv4', 'IPv6']) {
  const clock = new ManualClock(1_000_000);
  const health = new ProxyHealth({ timeoutMs: TIMEOUT_MS, clock });
  health.started(families);
  return { clock, health };
}

function node(extra: { taints?: string[]; deletionTimestamp?: string } = {}): Node {
  const { taints, deletionTimestamp } = extra;
  const metadata = { name: 'node-a', namespace: '', labels: {}, annotations: {}, deletionTimestamp };
  return { kind: 'Node', metadata, podCIDRs: [], addresses: [], taints };
}

describe('proxy health', () => {
  test('HEALTH-2 the timeout can change while work is pending', async () => {
    const { clock, health } = setUp(['IPv4']);
    health.updated('IPv4');
    health.queuedUpdate('IPv4');
    await clock.advance(TIMEOUT_MS);
    assert.equal(health.healthy, false);
    health.setTimeoutMs(2 * TIMEOUT_MS);
    assert.equal(health.healthy, true);
  });

  test('HEALTH-1 the proxy is alive from the start, and healthy once every served family is synced', () => {
    const { health } = setUp();
    assert.deepEqual([health.healthy, health.alive], [false, true]);
    health.updated('IPv4');
    assert.deepEqual([health.healthy, health.alive], [false, true]);
    health.updated('IPv6');
    assert.deepEqual([health.healthy, health.alive], [true, true]);
  });

  test('HEALTH-1 a family that is not served does not matter', async () => {
    const { health, clock } = setUp(['IPv4']);
    health.updated('IPv4');
    health.queuedUpdate('IPv6');
    await clock.advance(TIMEOUT_MS * 2);
    assert.equal(health.healthy, true);
    assert.deepEqual([...health.families().keys()], ['IPv4']);
  });

  test('HEALTH-1 a proxy that waits for the API server stays alive, because it has no work that could be late', async () => {
    const { health, clock } = setUp();
    await clock.advance(TIMEOUT_MS * 100);
    assert.deepEqual([health.healthy, health.alive], [false, true]);
    assert.equal(health.families().get('IPv4')?.pendingMs, undefined);
  });

  test("HEALTH-2 setting the machine's clock neither makes work late nor hides late work", async () => {
    const { health, clock } = setUp(['IPv4']);
    health.queuedUpdate('IPv4');
    health.updated('IPv4');
    health.queuedUpdate('IPv4');
    clock.set(clock.now() + 3_600_000);
    assert.ok(health.healthy);
    assert.ok(health.alive);
    clock.set(0);
    await clock.advance(TIMEOUT_MS);
    assert.ok(!health.healthy);
    assert.ok(!health.alive);
  });

  test('HEALTH-2 work is late once it has been pending for exactly the timeout', async () => {
    const { health, clock } = setUp(['IPv4']);
    health.updated('IPv4');
    health.queuedUpdate('IPv4');
    await clock.advance(TIMEOUT_MS - 1);
    assert.deepEqual([health.healthy, health.alive], [true, true]);
    await clock.advance(1);
    assert.deepEqual([health.healthy, health.alive], [false, false]);
    assert.equal(health.families().get('IPv4')?.pendingMs, TIMEOUT_MS);
  });

  test('HEALTH-2 later work does not make the oldest work younger', async () => {
    const { health, clock } = setUp(['IPv4']);
    health.updated('IPv4');
    health.queuedUpdate('IPv4');
    await clock.advance(TIMEOUT_MS - 1);
    health.queuedUpdate('IPv4');
    await clock.advance(1);
    assert.equal(health.healthy, false);
  });

  test('HEALTH-2 only a sync of the same family clears late work', async () => {
    const { health, clock } = setUp();
    health.updated('IPv4');
    health.updated('IPv6');
    health.queuedUpdate('IPv4');
    await clock.advance(TIMEOUT_MS);
    health.updated('IPv6');
    assert.equal(health.healthy, false);
    assert.equal(health.families().get('IPv6')?.healthy, true);
    health.updated('IPv4');
    assert.equal(health.healthy, true);
  });

  test('HEALTH-2 a family without work stays healthy for ever', async () => {
    const { health, clock } = setUp(['IPv4']);
    health.updated('IPv4');
    await clock.advance(TIMEOUT_MS * 1000);
    assert.equal(health.healthy, true);
    assert.equal(health.lastUpdated, 1_000_000);
  });

  test('HEALTH-26 while the first sync fails, or takes long, the proxy is alive and not healthy', async () => {
    const { health, clock } = setUp(['IPv4']);
    health.queuedUpdate('IPv4');
    for (let failure = 0; failure < 3; failure++) {
      health.syncStarted('IPv4');
      await clock.advance(TIMEOUT_MS);
      assert.deepEqual([health.healthy, health.alive], [false, true]);
      health.failed('IPv4', 'EPERM');
      await clock.advance(TIMEOUT_MS);
      assert.deepEqual([health.healthy, health.alive], [false, true]);
    }
    const { pendingMs, error } = health.families().get('IPv4') ?? {};
    assert.deepEqual([pendingMs, error], [6 * TIMEOUT_MS, 'EPERM']);
  });

  test('HEALTH-26 late work of a family that was synced counts, even if another family was never synced', async () => {
    const { health, clock } = setUp();
    health.updated('IPv4');
    health.queuedUpdate('IPv4');
    health.queuedUpdate('IPv6');
    await clock.advance(TIMEOUT_MS);
    assert.equal(health.alive, false);
    health.updated('IPv4');
    assert.deepEqual([health.healthy, health.alive], [false, true]);
  });

  test('HEALTH-3 repeated failures do not make the oldest work younger', async () => {
    const { health, clock } = setUp(['IPv4']);
    health.updated('IPv4');
    health.queuedUpdate('IPv4');
    for (let failure = 0; failure < 3; failure++) {
      await clock.advance(TIMEOUT_MS / 3);
      health.syncStarted('IPv4');
      health.failed('IPv4', 'EBUSY');
    }
    assert.equal(health.alive, false);
    health.syncStarted('IPv4');
    health.updated('IPv4');
    assert.deepEqual(health.families().get('IPv4'), {
      lastUpdated: 1_000_000 + TIMEOUT_MS,
      alive: true,
      healthy: true,
      pendingMs: undefined,
      error: undefined,
    });
  });

  test('HEALTH-3 a failed sync leaves work pending, even if no work was queued before', async () => {
    const { health, clock } = setUp(['IPv4']);
    health.updated('IPv4');
    health.failed('IPv4', 'EBUSY');
    await clock.advance(TIMEOUT_MS);
    assert.equal(health.healthy, false);
  });

  test('HEALTH-3 a sync that hangs is pending work', async () => {
    const { health, clock } = setUp(['IPv4']);
    health.updated('IPv4');
    health.syncStarted('IPv4');
    await clock.advance(TIMEOUT_MS);
    assert.equal(health.alive, false);
  });

  test('HEALTH-3 work that is queued while a sync runs stays pending after it', async () => {
    const { health, clock } = setUp(['IPv4']);
    health.syncStarted('IPv4');
    await clock.advance(1000);
    health.queuedUpdate('IPv4');
    health.updated('IPv4');
    await clock.advance(TIMEOUT_MS - 1);
    assert.equal(health.healthy, true);
    await clock.advance(1);
    assert.equal(health.healthy, false);
  });

  test('HEALTH-3 the next sync does the work that was queued during a failed sync', async () => {
    const { health, clock } = setUp(['IPv4']);
    health.syncStarted('IPv4');
    health.queuedUpdate('IPv4');
    health.failed('IPv4', 'EBUSY');
    health.syncStarted('IPv4');
    health.updated('IPv4');
    await clock.advance(TIMEOUT_MS);
    assert.equal(health.healthy, true);
  });

  test('HEALTH-4 a node is eligible if it is known, is not being deleted and has no taint of the autoscaler', () => {
    const { health } = setUp();
    const eligible = (given: Node | undefined) => {
      health.setNode(given);
      return health.nodeEligible;
    };
    assert.equal(health.nodeEligible, false);
    assert.equal(eligible(node()), true);
    assert.equal(eligible(node({ taints: ['node.kubernetes.io/unreachable'] })), true);
    assert.equal(eligible(node({ taints: ['a', 'ToBeDeletedByClusterAutoscaler'] })), false);
    assert.equal(eligible(node({ deletionTimestamp: '2026-05-04T10:00:00Z' })), false);
    assert.equal(eligible(undefined), false);
  });

  test('HEALTH-2 work that comes during a sync is as old as its first part', async () => {
    const { health, clock } = setUp(['IPv4']);
    health.syncStarted('IPv4');
    health.queuedUpdate('IPv4');
    await clock.advance(1000);
    health.queuedUpdate('IPv4');
    health.updated('IPv4');
    assert.equal(health.families().get('IPv4')?.pendingMs, 1000);
  });
});
