import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askRoute } from '../../test/support/ask-route.ts';
import { LiveNode } from '../../test/support/live-node.ts';
import { LiveStream } from '../../test/support/live-stream.ts';
import { service, slice } from '../../test/support/objects.ts';
import { liveRoute } from './live.ts';

const WEB = service('web');
const ENDPOINTS = slice('web-1', ['10.1.0.1']);

function watchedNode(): Promise<LiveNode> {
  return LiveNode.with([WEB, ENDPOINTS]);
}

/** Changes the endpoints so often, with a sync each. */
async function churn(node: LiveNode, times: number, pauseMs: number): Promise<void> {
  const slices = [ENDPOINTS, slice('web-1', ['10.1.0.1', '10.1.0.2'])] as const;
  for (let i = 0; i < times; i++) {
    const [from, to] = i % 2 === 0 ? slices : slices.toReversed();
    if (from && to) node.update(from, to);
    node.sync();
    await node.advance(pauseMs);
  }
}

test('INSPECT-27 without readers nothing is computed, read or waited for', async () => {
  const node = await watchedNode();
  await churn(node, 20, 500);
  assert.deepEqual(node.asked, { facts: 0, status: 0, counts: 0 });
  assert.equal(node.clock.pending, 0);
  const reader = new LiveStream(node.hub);
  await churn(node, 4, 500);
  assert.ok(node.hub.rowsComputed > 0 && node.clock.pending > 0);
  reader.leave();
  await node.advance(0);
  const asked = { ...node.asked };
  const computed = node.hub.rowsComputed;
  await churn(node, 20, 500);
  assert.deepEqual([node.asked, node.hub.rowsComputed, node.hub.readers], [asked, computed, 0]);
  assert.equal(node.clock.pending, 0);
});

test('INSPECT-27 a reader that disappears before it took anything is no longer a reader', async () => {
  const node = await watchedNode();
  const gone = new AbortController();
  const stream = node.hub.open(gone.signal);
  assert.equal(node.hub.readers, 1);
  gone.abort();
  assert.equal(node.hub.readers, 0);
  await stream.return();
  const early = AbortSignal.abort();
  assert.equal((await node.hub.open(early).next()).done, true);
  assert.equal(node.clock.pending, 0);
});

test('INSPECT-27 at most 32 readers are served', async () => {
  const node = await watchedNode();
  const readers = Array.from({ length: 32 }, () => new LiveStream(node.hub));
  const { status, lines } = await askRoute(liveRoute(node.hub), '/v1/live');
  assert.equal(status, 429);
  assert.match(lines[0].error, /^32 readers follow this proxy/);
  readers[0]?.leave();
  const next = new LiveStream(node.hub);
  await node.advance(0);
  assert.equal(next.of('hello').length, 1);
});

test('INSPECT-27 if the proxy cannot compute what changed, the streams break off', async () => {
  const node = await watchedNode();
  let mustFail = false;
  const failing = new LiveNode({
    clock: node.clock,
    facts: () => {
      if (mustFail) throw new Error('no facts');
      return node.facts();
    },
  });
  const reader = new LiveStream(failing.hub);
  await node.advance(100);
  mustFail = true;
  await node.advance(2000);
  assert.equal(failing.hub.readers, 0);
  assert.equal(reader.of('hello').length, 1);
});

test('INSPECT-24 the end of the proxy ends all streams', async () => {
  const node = await watchedNode();
  const reader = new LiveStream(node.hub);
  await node.advance(0);
  node.hub.close();
  assert.equal(node.hub.readers, 0);
  assert.equal(node.clock.pending, 0);
  assert.equal((await node.hub.open(new AbortController().signal).next()).done, true);
  assert.equal(reader.of('hello').length, 1);
});

test('INSPECT-26 a slow reader gets the last row of each Service, and holds up nobody', async () => {
  const node = await watchedNode();
  const slow = new LiveStream(node.hub);
  const fast = new LiveStream(node.hub);
  await node.advance(100);
  slow.pause();
  await churn(node, 40, 500);
  await node.advance(1000);
  assert.ok(fast.of('rows').length >= 20);
  assert.ok(slow.of('rows').length <= 1);
  slow.take('rows');
  slow.resume();
  await node.advance(100);
  const rows = slow.take('rows').flatMap(event => event.rows);
  assert.deepEqual(rows, fast.of('rows').at(-1)?.rows);
  const ids = slow.of('history').flatMap(({ entries }) => entries.map(({ id }) => id));
  const all = fast.of('history').flatMap(({ entries }) => entries.map(({ id }) => id));
  assert.deepEqual(ids, all);
});

test('INSPECT-26 a reader that is too far behind lists again', async () => {
  const node = await watchedNode();
  const reader = new LiveStream(node.hub);
  await node.advance(100);
  reader.pause();
  const objects = Array.from({ length: 1200 }, (_, i) => service(`s${i}`, { clusterIP: `10.97.${i >> 8}.${i & 255}` }));
  for (let i = 0; i < objects.length; i += 100) {
    for (const each of objects.slice(i, i + 100)) node.add(each);
    node.sync();
    await node.advance(300);
  }
  reader.resume();
  await node.advance(500);
  assert.equal(reader.of('relist').length, 1);
  assert.ok(reader.of('rows').flatMap(({ rows }) => rows).length <= 2000);
});

test('INSPECT-28 the status comes when something in it changed, and otherwise every 5 s', async () => {
  const node = await watchedNode();
  const [reader, other] = [new LiveStream(node.hub), new LiveStream(node.hub)];
  await node.advance(1500);
  reader.take('status');
  node.asked.status = 0;
  for (let i = 0; i < 10; i++) {
    node.status = { uptimeSeconds: i, memory: { resident: i } };
    await node.advance(1000);
  }
  assert.equal(node.asked.status, 10);
  assert.equal(reader.take('status').length, 2);
  node.status = { pending: true };
  await node.advance(1000);
  assert.deepEqual(
    reader.take('status').map(({ status }) => status.pending),
    [true],
  );
  assert.ok(other.of('status').length > 0);
});

test('INSPECT-28 a second in which something happened comes as a pulse', async () => {
  const node = await watchedNode();
  const reader = new LiveStream(node.hub);
  await node.advance(300);
  node.update(ENDPOINTS, slice('web-1', ['10.1.0.2']));
  await node.advance(20);
  node.sync();
  await node.advance(5000);
  const pulses = reader.of('pulse').map(({ pulse: { at, ...rest } }) => rest);
  assert.deepEqual(pulses, [{ syncs: 1, failedSyncs: 0, syncMs: 1, latencyMs: 20, changes: 1 }]);
});

test('INSPECT-28 only counters that changed come, and a row has the last reading', async () => {
  const node = await watchedNode();
  node.counts = new Map([
    ['default/web', 1],
    ['default/shop', 5],
  ]);
  const reader = new LiveStream(node.hub);
  const slow = new LiveStream(node.hub);
  await node.advance(100);
  assert.equal(reader.of('hello')[0]?.countsConnections, true);
  slow.pause();
  await node.advance(2500);
  assert.deepEqual(reader.take('connections'), []);
  for (const count of [2, 3, 4]) {
    node.counts = new Map([
      ['default/web', count],
      ['default/shop', 5],
    ]);
    await node.advance(2000);
  }
  assert.deepEqual(
    reader.take('connections').map(({ counts }) => counts),
    [[['default/web', 2]], [['default/web', 3]], [['default/web', 4]]],
  );
  slow.resume();
  await node.advance(0);
  assert.deepEqual(slow.of('connections').at(-1)?.counts, [
    ['default/web', 4],
    ['default/shop', 5],
  ]);
  node.update(ENDPOINTS, slice('web-1', ['10.1.0.2']));
  node.sync();
  await node.advance(300);
  assert.equal(reader.of('rows').at(-1)?.rows[0]?.connections, 4);
});

test('INSPECT-28 slow readings of the counters take a twentieth of the time at most', async () => {
  const node = await watchedNode();
  let readings = 0;
  const slowNode = new LiveNode({
    clock: node.clock,
    facts: () => node.facts(),
    connectionCounts: () =>
      new Promise(resolve => {
        readings++;
        node.clock.setTimer(1000, () => resolve(new Map()));
      }),
  });
  const reader = new LiveStream(slowNode.hub);
  await node.advance(100_000);
  assert.ok(readings <= 6, `${readings} readings of a second in 100 s`);
  assert.ok(reader.of('status').length > 0);
});

test('INSPECT-28 a counter that began anew at zero comes, although a mode leaves out what is zero', async () => {
  const node = await watchedNode();
  node.counts = new Map([['default/web', 7]]);
  const reader = new LiveStream(node.hub);
  await node.advance(100);
  node.counts = new Map();
  await node.advance(2500);
  assert.deepEqual(
    reader.take('connections').map(({ counts }) => counts),
    [[['default/web', 0]]],
  );
});
