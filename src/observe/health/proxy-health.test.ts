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
  test('HEALTH-2 the timeout can change while work waits', async () => {
    const { clock, health } = setUp(['IPv4']);
    health.updated('IPv4');
    health.queuedUpdate('IPv4');
    await clock.advance(TIMEOUT_MS);
    assert.equal(health.healthy, false);
    health.setTimeoutMs(2 * TIMEOUT_MS);
    assert.equal(health.healthy, true);
  });

  test('HEALTH-1 not healthy until every proxied family was synced, but alive', () => {
    const { health } = setUp();
    assert.deepEqual([health.healthy, health.alive], [false, true]);
    health.updated('IPv4');
    assert.deepEqual([health.healthy, health.alive], [false, true]);
    health.updated('IPv6');
    assert.deepEqual([health.healthy, health.alive], [true, true]);
  });

  test('HEALTH-1 a family that is not proxied plays no part', async () => {
    const { health, clock } = setUp(['IPv4']);
    health.updated('IPv4');
    health.queuedUpdate('IPv6');
    await clock.advance(TIMEOUT_MS * 2);
    assert.equal(health.healthy, true);
    assert.deepEqual([...health.families().keys()], ['IPv4']);
  });

  test('HEALTH-1 waiting for the API server kills nobody: without work nothing is late', async () => {
    const { health, clock } = setUp();
    await clock.advance(TIMEOUT_MS * 100);
    assert.deepEqual([health.healthy, health.alive], [false, true]);
    assert.equal(health.families().get('IPv4')?.reason, 'no sync has succeeded yet');
  });

  test('HEALTH-2 a clock that is set neither makes work late nor hides that it is', async () => {
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

  test('HEALTH-2 work that is pending for the timeout is too late, to the millisecond', async () => {
    const { health, clock } = setUp(['IPv4']);
    health.updated('IPv4');
    health.queuedUpdate('IPv4');
    await clock.advance(TIMEOUT_MS - 1);
    assert.deepEqual([health.healthy, health.alive], [true, true]);
    await clock.advance(1);
    assert.deepEqual([health.healthy, health.alive], [false, false]);
    assert.equal(health.families().get('IPv4')?.reason, 'work has been pending for 60 s');
  });

  test('HEALTH-2 later requests do not refresh the time of the oldest', async () => {
    const { health, clock } = setUp(['IPv4']);
    health.updated('IPv4');
    health.queuedUpdate('IPv4');
    await clock.advance(TIMEOUT_MS - 1);
    health.queuedUpdate('IPv4');
    await clock.advance(1);
    assert.equal(health.healthy, false);
  });

  test('HEALTH-2 a late family is cleared only by its own sync', async () => {
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

  test('HEALTH-2 nothing queued is healthy for ever', async () => {
    const { health, clock } = setUp(['IPv4']);
    health.updated('IPv4');
    await clock.advance(TIMEOUT_MS * 1000);
    assert.equal(health.healthy, true);
    assert.equal(health.lastUpdated, 1_000_000);
  });

  test('HEALTH-3 a first sync that fails turns both red after the timeout, though nothing is queued afterwards', async () => {
    const { health, clock } = setUp(['IPv4']);
    health.queuedUpdate('IPv4');
    health.syncStarted('IPv4');
    health.failed('IPv4', 'EPERM');
    assert.equal(health.alive, true);
    await clock.advance(TIMEOUT_MS);
    assert.deepEqual([health.healthy, health.alive], [false, false]);
    assert.equal(health.families().get('IPv4')?.reason, 'work has been pending for 60 s; the last sync failed: EPERM');
  });

  test('HEALTH-3 failures in a row do not push the time of the oldest work on', async () => {
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
      reason: undefined,
      error: undefined,
    });
  });

  test('HEALTH-3 a sync that nobody asked for and that fails leaves its work pending', async () => {
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

  test('HEALTH-3 what is queued while a sync runs stays pending after it', async () => {
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

  test('HEALTH-3 what was queued while a sync ran that failed is done by the next', async () => {
    const { health, clock } = setUp(['IPv4']);
    health.syncStarted('IPv4');
    health.queuedUpdate('IPv4');
    health.failed('IPv4', 'EBUSY');
    health.syncStarted('IPv4');
    health.updated('IPv4');
    await clock.advance(TIMEOUT_MS);
    assert.equal(health.healthy, true);
  });

  test('HEALTH-4 a node is eligible if it is known, not being deleted and not marked by the autoscaler', () => {
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
});
