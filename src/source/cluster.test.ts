import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { FakeApi, type FakeRequest } from '../../test/support/fake-api.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import type { KubeObject } from '../api/index.ts';
import { type Change, latestOf } from '../lib/change.ts';
import { ClusterSource } from './cluster.ts';
import type { SourceHandlers } from './source.ts';

const PATHS = ['services', 'endpointslices', 'nodes', 'servicecidrs'] as const;

class Case {
  readonly api = new FakeApi();
  readonly clock = new ManualClock();
  readonly calls: string[] = [];
  readonly problems: string[] = [];
  readonly unavailable: string[] = [];
  readonly source: ClusterSource;
  #chance = 0;

  constructor(resyncMs = 0) {
    this.source = new ClusterSource({
      client: this.api,
      nodeName: 'node-a',
      accept: 'application/json',
      resyncMs,
      clock: this.clock,
      random: () => (this.#chance = (this.#chance + 0.37) % 1),
      report: {
        watchFailed: ({ where }) => this.problems.push(where),
        optionalUnavailable: ({ where }) => this.unavailable.push(where),
        watchStalled: () => assert.fail(),
        watchRecovered: () => {},
        objectUnusable: () => assert.fail(),
        objectRecovered: () => assert.fail(),
      },
    });
  }

  handlers(): SourceHandlers {
    const record = (change: Change<KubeObject>) => {
      const { kind, metadata } = latestOf(change);
      this.calls.push(`${change.type} ${kind} ${metadata.name}`);
    };
    return {
      serviceChanged: record,
      endpointSliceChanged: record,
      nodeChanged: record,
      serviceCidrChanged: record,
      synced: () => this.calls.push('synced'),
      problem: () => assert.fail(),
    };
  }

  async start(): Promise<void> {
    await this.source.start(this.handlers());
    await this.clock.advance(0);
  }

  /** Answers with the recorded answer of a real server. */
  async answer(path: (typeof PATHS)[number]): Promise<FakeRequest> {
    const request = this.api.next(path);
    request.answer();
    request.send(readFileSync(`src/api/protobuf/recorded/${path}.watch.jsonl`));
    await this.clock.advance(0);
    return request;
  }
}

async function withCluster(act: (parts: Case) => Promise<void>, resyncMs?: number): Promise<void> {
  const parts = new Case(resyncMs);
  try {
    await act(parts);
  } finally {
    await parts.source.close();
    assert.equal(parts.clock.pending, 0);
  }
}

test('WATCH-1 Services, EndpointSlices, the own Node and ServiceCIDRs are watched with their selectors', () =>
  withCluster(async parts => {
    await parts.start();
    const asked = parts.api.requests.map(({ path, query: { labelSelector, fieldSelector } }) => [
      path,
      labelSelector,
      fieldSelector,
    ]);
    assert.deepEqual(asked.sort(), [
      ['/api/v1/nodes', undefined, 'metadata.name=node-a'],
      ['/api/v1/services', '!service.kubernetes.io/service-proxy-name', 'spec.clusterIP!=None'],
      ['/apis/discovery.k8s.io/v1/endpointslices', '!service.kubernetes.io/headless', undefined],
      ['/apis/networking.k8s.io/v1/servicecidrs', undefined, undefined],
    ]);
  }));

test('WATCH-1 synced is called when all four resources are synced', () =>
  withCluster(async parts => {
    await parts.start();
    for (const path of PATHS) {
      assert.ok(!parts.calls.includes('synced'));
      await parts.answer(path);
    }
    assert.equal(parts.calls.at(-1), 'synced');
    assert.ok(parts.calls.includes('added Service web'));
    assert.ok(parts.calls.includes('added EndpointSlice web-a'));
    assert.ok(parts.calls.includes('added Node node-a'));
    assert.ok(parts.calls.includes('added ServiceCIDR kubernetes'));
    assert.deepEqual(
      parts.source.following().map(({ hasSynced, silentMs }) => [hasSynced, silentMs]),
      Array(4).fill([true, 0]),
    );
  }));

test('WATCH-1 the Node can be watched before the other resources, and handlers that come later receive it too', () =>
  withCluster(async parts => {
    const early: string[] = [];
    parts.source.node.addHandler({ changed: change => change.type === 'added' && early.push(change.to.metadata.name) });
    parts.source.node.start();
    await parts.clock.advance(0);
    assert.equal(parts.api.requests.length, 1);
    await parts.answer('nodes');
    assert.ok(early.includes('node-a'));
    await parts.start();
    assert.equal(parts.api.requests.length, 4);
    assert.ok(parts.calls.includes('added Node node-a'));
  }));

for (const [status, reason] of [
  [404, 'NotFound'],
  [403, 'Forbidden'],
] as const) {
  test(`WATCH-18 if the server answers ${status} for ServiceCIDRs, the objects are complete without them`, () =>
    withCluster(async parts => {
      await parts.start();
      for (const path of ['services', 'endpointslices', 'nodes'] as const) await parts.answer(path);
      parts.api.next('servicecidrs').refuse(status, reason, 'no');
      await parts.clock.advance(0);
      assert.equal(parts.calls.at(-1), 'synced');
      assert.deepEqual(parts.problems, []);
      assert.deepEqual(parts.unavailable, ['/apis/networking.k8s.io/v1/servicecidrs']);
      while (!parts.api.has('servicecidrs')) await parts.clock.advance(100);
      await parts.answer('servicecidrs');
      assert.equal(parts.calls.at(-1)?.split(' ')[1], 'ServiceCIDR');
    }));
}

for (const path of ['services', 'endpointslices', 'nodes'] as const) {
  test(`WATCH-18 the objects are not complete while ${path} may not be read`, () =>
    withCluster(async parts => {
      await parts.start();
      for (const other of PATHS) if (other !== path) await parts.answer(other);
      parts.api.next(path).refuse(403, 'Forbidden', 'no');
      await parts.clock.advance(0);
      assert.ok(!parts.calls.includes('synced'));
      assert.equal(parts.problems.length, 1);
    }));
}

test('WATCH-17 the handlers receive all objects again after each period of at least a second', () =>
  withCluster(async parts => {
    await parts.start();
    await parts.answer('servicecidrs');
    parts.calls.length = 0;
    await parts.clock.advance(999);
    assert.deepEqual(parts.calls, []);
    await parts.clock.advance(1);
    assert.deepEqual(parts.calls.sort(), ['updated ServiceCIDR extra', 'updated ServiceCIDR kubernetes']);
  }, 1));

for (const [what, fail] of [
  ['refuses connections', (request: FakeRequest) => request.fail('unreachable', 'refused', 'ECONNREFUSED')],
  ['breaks connections', (request: FakeRequest) => request.fail('tls', 'bad record')],
] as const) {
  test(`WATCH-10 while the server ${what}, all watches retry at the same moments, over one connection`, () =>
    withCluster(async parts => {
      await parts.start();
      for (let round = 0; round < 5; round++) {
        for (const path of PATHS) fail(parts.api.next(path));
        await parts.clock.advance(0);
        while (parts.api.waiting === 0) await parts.clock.advance(1);
        assert.equal(parts.api.waiting, 4);
      }
    }));
}

for (const status of [401, 403, 503]) {
  test(`WATCH-10 when one watch reaches the server again, the others retry at once, also after a ${status}`, () =>
    withCluster(async parts => {
      await parts.start();
      const others = ['services', 'endpointslices', 'servicecidrs'] as const;
      for (;;) {
        await parts.clock.advance(10);
        for (const path of others) {
          while (parts.api.has(path)) {
            parts.api.next(path).refuse(status, 'Some', 'the server is starting');
            await parts.clock.advance(0);
          }
        }
        if (!parts.api.has('nodes')) continue;
        if (parts.clock.elapsed() > 30_000) break;
        parts.api.next('nodes').fail('unreachable', 'refused');
      }
      assert.equal(parts.api.waiting, 1);
      await parts.answer('nodes');
      assert.equal(parts.api.waiting, 3);
    }));
}

test('WATCH-10 a server that answers each watch and breaks it off gets few requests', () =>
  withCluster(async parts => {
    await parts.start();
    for (const path of PATHS) await parts.answer(path);
    const before = parts.api.requests.length;
    for (const { path } of parts.source.following()) parts.api.requests.find(request => request.path === path)?.end();
    for (let ms = 0; ms < 60_000; ms += 20) {
      await parts.clock.advance(20);
      while (parts.api.waiting > 0 && parts.api.requests.length < 1000) {
        const request = parts.api.next();
        request.answer();
        await parts.clock.advance(0);
        request.fail('closed', 'broken off');
        await parts.clock.advance(0);
      }
    }
    const count = parts.api.requests.length - before;
    assert.ok(count < 120, `${count} requests in a minute`);
  }));

test('WATCH-10 a watch waits as long as a busy server asked it to wait', () =>
  withCluster(async parts => {
    await parts.start();
    parts.api.next('nodes').refuse(429, 'TooManyRequests', 'later', { 'retry-after': '30' });
    parts.api.next('services').fail('unreachable', 'refused');
    await parts.clock.advance(1600);
    await parts.answer('services');
    assert.deepEqual(parts.problems.sort(), ['/api/v1/nodes', '/api/v1/services']);
    assert.throws(() => parts.api.next('nodes'));
  }));
