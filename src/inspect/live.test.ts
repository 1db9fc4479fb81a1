import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LiveNode } from '../../test/support/live-node.ts';
import { LiveStream } from '../../test/support/live-stream.ts';
import { service, slice } from '../../test/support/objects.ts';
import type { SetAside } from '../modes/index.ts';

const WEB = service('web');
const WEB_ENDPOINTS = slice('web-1', ['10.1.0.1']);
const TWO_ENDPOINTS = slice('web-1', ['10.1.0.1', '10.1.0.2']);

/** A node with the Service web, and a reader that has got its first events. */
async function watched(objects = [WEB, WEB_ENDPOINTS]) {
  const node = await LiveNode.with(objects);
  const reader = new LiveStream(node.hub);
  await node.advance(100);
  return { node, reader };
}

/** The rows since the last call: `web programmed`. */
function states(reader: LiveStream): readonly string[] {
  return reader
    .take('rows')
    .flatMap(({ rows, removed }) => [
      ...rows.map(({ name, state }) => `${name} ${state}`),
      ...removed.map(key => `${key} removed`),
    ]);
}

test('INSPECT-24 the first event says which run of which proxy it is, and the second has the status', async () => {
  const { node, reader } = await watched();
  const { run, ...hello } = reader.of('hello')[0] ?? assert.fail();
  const pulse = [{ at: node.clock.now() - 1100, syncs: 1, failedSyncs: 0, syncMs: 1, changes: 1 }];
  assert.deepEqual(hello, {
    kind: 'hello',
    node: 'node-a',
    mode: 'nftables',
    historyId: node.history.newestId,
    pulse,
    countsConnections: false,
    listsSockets: false,
  });
  assert.deepEqual(
    reader.events.map(({ kind }) => kind),
    ['hello', 'status'],
  );
  const other = new LiveStream(node.hub);
  await node.advance(0);
  assert.equal(other.of('hello')[0]?.run, run);
  assert.notEqual((await watched()).reader.of('hello')[0]?.run, run);
});

test('INSPECT-24 a change comes as a row and as an entry of the history', async () => {
  const { node, reader } = await watched();
  node.update(WEB_ENDPOINTS, TWO_ENDPOINTS);
  node.sync();
  await node.advance(100);
  assert.deepEqual(reader.of('rows')[0]?.rows[0]?.endpoints, [{ family: 'IPv4', used: 2, all: 2 }]);
  const [entry] = reader.of('history')[0]?.entries ?? [];
  assert.deepEqual([entry?.kind, entry?.service, entry?.state], ['change', 'default/web', 'written']);
});

describe('INSPECT-25 a row comes', () => {
  test('when a Service comes and when it goes', async () => {
    const { node, reader } = await watched();
    const shop = service('shop', { clusterIP: '10.96.0.2' });
    node.add(shop);
    node.sync();
    await node.advance(300);
    assert.deepEqual(states(reader), ['shop noEndpoints']);
    node.remove(shop);
    node.sync();
    await node.advance(300);
    assert.deepEqual(states(reader), ['default/shop removed']);
  });

  test('when the object changed, and when the kernel has the change', async () => {
    const { node, reader } = await watched();
    node.update(WEB_ENDPOINTS, TWO_ENDPOINTS);
    await node.advance(300);
    assert.deepEqual(states(reader), ['web waiting']);
    node.take();
    await node.advance(300);
    assert.deepEqual(states(reader), []);
    node.written();
    await node.advance(300);
    assert.deepEqual(states(reader), ['web programmed']);
  });

  test('when the kernel needs nothing of the change', async () => {
    const { node, reader } = await watched();
    node.update(WEB, { ...WEB, metadata: { ...WEB.metadata, resourceVersion: '2' } });
    await node.advance(300);
    assert.deepEqual(states(reader), ['web waiting']);
    node.sync();
    await node.advance(1300);
    assert.ok(states(reader).includes('web programmed'));
  });

  test('when the kernel has a change that came before the reader', async () => {
    const node = await LiveNode.with([WEB, WEB_ENDPOINTS]);
    node.update(WEB, { ...WEB, metadata: { ...WEB.metadata, resourceVersion: '2' } });
    const reader = new LiveStream(node.hub);
    await node.advance(1000);
    assert.deepEqual(states(reader), []);
    node.sync();
    await node.advance(1300);
    assert.ok(states(reader).includes('web programmed'));
  });

  test('when the kernel refuses a port, and when it has the port after all', async () => {
    const { node, reader } = await watched();
    const cause = { code: 'EEXIST', message: 'it exists' } as unknown as SetAside['cause'];
    const port: SetAside = { family: 'IPv4', namespace: 'default', name: 'web', port: '', protocol: 'TCP', cause };
    node.setAside = [port];
    node.history.setAside(port);
    await node.advance(300);
    assert.deepEqual(states(reader), ['web setAside']);
    node.setAside = [];
    await node.advance(1300);
    assert.deepEqual(states(reader), ['web programmed']);
  });

  test('when an object has a problem, and when the problem is over', async () => {
    const { node, reader } = await watched();
    const problem = { object: 'Service default/web', message: 'is wrong' };
    node.problems.add(problem);
    node.history.problem(problem);
    await node.advance(300);
    assert.deepEqual(states(reader), ['web problem']);
    node.problems.clear('Service default/web');
    await node.advance(1300);
    assert.deepEqual(states(reader), ['web programmed']);
  });

  test('when a manifest has a Service that cannot be used, and when it is mended', async () => {
    const { node, reader } = await watched();
    const problem = { where: 'shop.yaml:3', object: 'Service default/shop', message: 'is wrong' };
    node.problems.add(problem);
    node.history.problem(problem);
    await node.advance(300);
    assert.deepEqual(states(reader), ['shop problem']);
    node.problems.clear('shop.yaml');
    node.history.recovered('shop.yaml');
    await node.advance(300);
    assert.deepEqual(states(reader), ['default/shop removed']);
  });

  test('when the other Service is gone that owned an address', async () => {
    const owner = service('owner');
    const { node, reader } = await watched([owner, slice('owner-1', ['10.1.0.9']), WEB, WEB_ENDPOINTS]);
    const plans = node.facts().state.family('IPv4').planner.plansOf('default/web');
    assert.deepEqual(
      plans.flatMap(({ conflicts }) => conflicts.map(each => each.owner)),
      ['default/owner'],
    );
    node.remove(owner);
    node.sync();
    await node.advance(300);
    assert.ok(states(reader).includes('web programmed'));
  });
});

test('INSPECT-25 rows are computed at most four times a second, and once for all readers', async () => {
  const { node } = await watched();
  const readers = [new LiveStream(node.hub), new LiveStream(node.hub)];
  await node.advance(1000);
  const before = node.hub.rowsComputed;
  const bothSlices = [WEB_ENDPOINTS, TWO_ENDPOINTS] as const;
  for (let i = 0; i < 100; i++) {
    node.update(bothSlices[i % 2] ?? WEB_ENDPOINTS, bothSlices[(i + 1) % 2] ?? WEB_ENDPOINTS);
    node.sync();
    await node.advance(10);
  }
  await node.advance(1000);
  const computed = node.hub.rowsComputed - before;
  assert.ok(computed >= 4 && computed <= 6, `${computed} rows in a second`);
  const [first, second] = readers.map(({ parts }) => parts.filter(part => Buffer.from(part).includes('event: rows')));
  assert.equal(first?.length, computed);
  assert.ok(first?.every((part, i) => part === second?.[i]));
});

test('INSPECT-25 after a change of the Node or the configuration, readers list again', async () => {
  const { node, reader } = await watched();
  node.history.configured('syncPeriod 30s → 10s');
  await node.advance(300);
  assert.equal(reader.take('relist').length, 1);
  node.history.configured('syncPeriod 10s → 30s');
  await node.advance(1000);
  assert.equal(reader.take('relist').length, 0);
  await node.advance(1500);
  assert.equal(reader.take('relist').length, 1);
});

test('INSPECT-25 if very many Services change at once, readers list again', async () => {
  const services = Array.from({ length: 1500 }, (_, i) =>
    service(`s${i}`, { clusterIP: `10.97.${i >> 8}.${i & 255}` }),
  );
  const { node, reader } = await watched([WEB]);
  for (const each of services) node.add(each);
  node.sync();
  await node.advance(3000);
  assert.ok(reader.of('relist').length > 0);
  assert.ok(reader.of('rows').every(({ rows }) => rows.length <= 200));
});

test('INSPECT-25 a reader that comes before the objects lists again when they are there', async () => {
  const node = new LiveNode();
  const reader = new LiveStream(node.hub);
  await node.advance(500);
  node.add(WEB);
  node.history.listed();
  node.sync();
  await node.advance(500);
  assert.ok(reader.of('relist').length > 0);
});

test('INSPECT-24 pulses go on when the clock of the machine is set back', async () => {
  const { node, reader } = await watched();
  const syncAndWait = async () => {
    node.sync();
    await node.advance(2000);
    return reader.take('pulse').length;
  };
  assert.equal(await syncAndWait(), 1);
  node.clock.set(node.clock.now() - 3_600_000);
  assert.equal(await syncAndWait(), 1);
  assert.equal(await syncAndWait(), 1);
});
