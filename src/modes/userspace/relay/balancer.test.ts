import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import type { Endpoint } from '../../../model/index.ts';
import type { Ip } from '../../../net/index.ts';
import { Balancer } from './balancer.ts';

function endpoint(text: string): Endpoint {
  const [ip = '', port = ''] = text.split(':');
  const conditions = { ready: true, serving: true, terminating: false };
  return {
    ip: ip as Ip,
    port: Number(port),
    text,
    nodeName: undefined,
    isLocal: false,
    zoneHints: undefined,
    nodeHints: undefined,
    ...conditions,
  };
}

const A = '10.0.0.1:80';
const B = '10.0.0.2:80';
const C = '10.0.0.3:80';

function balancer({ affinitySeconds = 0, balance = 'round-robin' as const, clock = new ManualClock() } = {}) {
  // Keys that rise keep the order that was given.
  let key = 0;
  const made = new Balancer({ clock, random: () => key++ });
  made.configure(balance, affinitySeconds);
  return made;
}

function give(to: Balancer, ...cluster: readonly string[]): void {
  to.setEndpoints({ cluster: cluster.map(endpoint), local: [] });
}

function picks(from: Balancer, count: number, client?: string): readonly (string | undefined)[] {
  return Array.from({ length: count }, () => from.pick('Cluster', client)?.text);
}

function refusedBy(...backends: readonly (ReturnType<Balancer['pick']> | undefined)[]) {
  return { refused: new Set(backends.flatMap(backend => backend ?? [])) };
}

describe('round robin', () => {
  test('USER-10 without endpoints there is nobody', () => {
    assert.equal(balancer().pick('Cluster'), undefined);
  });

  test('USER-10 the only endpoint gets everything, with or without a known client', () => {
    const one = balancer();
    give(one, A);
    assert.deepEqual([...picks(one, 2), ...picks(one, 1, '1.2.3.4')], [A, A, A]);
  });

  test('USER-10 endpoints take turns; ports of one address are several endpoints', () => {
    const several = balancer();
    give(several, '10.0.0.1:1', '10.0.0.1:2', '10.0.0.1:3');
    assert.deepEqual(picks(several, 4), ['10.0.0.1:1', '10.0.0.1:2', '10.0.0.1:3', '10.0.0.1:1']);
  });

  test('USER-10 another membership begins a new round, the same membership does not', () => {
    const one = balancer();
    give(one, A, B);
    picks(one, 1);
    give(one, B, A);
    assert.deepEqual(picks(one, 1), [B]);
    picks(one, 1);
    give(one, A, B, C);
    assert.deepEqual(picks(one, 1), [A]);
    give(one);
    assert.deepEqual(picks(one, 1), [undefined]);
  });

  test('USER-10 the order of a round is random', () => {
    const keys = [0.9, 0.1, 0.5];
    const one = new Balancer({ clock: new ManualClock(), random: () => keys.shift() ?? 0 });
    give(one, A, B, C);
    assert.deepEqual(picks(one, 3), [B, C, A]);
  });

  test('USER-10 policies have rounds of their own', () => {
    const one = balancer();
    one.setEndpoints({ cluster: [A, B].map(endpoint), local: [B].map(endpoint) });
    assert.equal(one.pick('Cluster')?.text, A);
    assert.equal(one.pick('Local')?.text, B);
    assert.equal(one.pick('Cluster')?.text, B);
  });

  test('USER-10 all get the same share, whatever the number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 5 }), (count, rounds) => {
        const one = new Balancer({ clock: new ManualClock() });
        give(one, ...Array.from({ length: count }, (_, i) => `10.0.0.${i + 1}:80`));
        const got = new Map<string | undefined, number>();
        for (const text of picks(one, count * rounds)) got.set(text, (got.get(text) ?? 0) + 1);
        assert.deepEqual(
          [...got.values()],
          Array.from({ length: count }, () => rounds),
        );
      }),
    );
  });
});

describe('affinity', () => {
  test('USER-11 a client keeps its endpoint and others take turns, whether endpoints or affinity came first', () => {
    const first = balancer({ affinitySeconds: 100 });
    give(first, A, B, C);
    const second = balancer();
    give(second, A, B, C);
    second.configure('round-robin', 100);
    for (const one of [first, second]) {
      assert.deepEqual(picks(one, 3, 'x'), [A, A, A]);
      assert.deepEqual(picks(one, 2, 'y'), [B, B]);
      assert.deepEqual(picks(one, 1, 'x'), [A]);
    }
  });

  test('USER-11 it lasts for its time after the last use, and a change of the time counts at once', async () => {
    const clock = new ManualClock();
    const one = balancer({ affinitySeconds: 10, clock });
    give(one, A, B);
    picks(one, 1, 'x');
    await clock.advance(9999);
    assert.deepEqual(picks(one, 1, 'x'), [A]);
    await clock.advance(9999);
    assert.deepEqual(picks(one, 1, 'x'), [A]);
    one.configure('round-robin', 5);
    await clock.advance(5000);
    assert.deepEqual(picks(one, 1, 'x'), [B]);
  });

  test('USER-11 only clients of an endpoint that is gone move; an addition moves nobody', () => {
    const one = balancer({ affinitySeconds: 100 });
    give(one, A, B, C);
    for (const client of ['a', 'b', 'c']) picks(one, 1, client);
    give(one, A, B);
    assert.deepEqual([picks(one, 1, 'a'), picks(one, 1, 'b'), picks(one, 1, 'c')].flat(), [A, B, A]);
    give(one, A, B, C);
    assert.deepEqual([picks(one, 1, 'a'), picks(one, 1, 'b'), picks(one, 1, 'c')].flat(), [A, B, A]);
    assert.deepEqual(picks(one, 1, 'd'), [A], 'a new client is the first of the new round');
  });

  test('USER-11 when all endpoints are replaced all clients move', () => {
    const one = balancer({ affinitySeconds: 100 });
    give(one, A);
    picks(one, 1, 'x');
    give(one, B, C);
    assert.deepEqual(picks(one, 1, 'y'), [B]);
    assert.deepEqual(picks(one, 1, 'x'), [C]);
    give(one);
    give(one, A);
    assert.deepEqual(picks(one, 1, 'x'), [A]);
  });

  test('USER-11 a client whose endpoint fails gets another and keeps that; others stay', () => {
    const one = balancer({ affinitySeconds: 100 });
    give(one, A, B, C);
    picks(one, 1, 'x');
    const y = one.pick('Cluster', 'y');
    assert.equal(y?.text, B);
    assert.equal(one.pick('Cluster', 'y', refusedBy(y))?.text, C);
    assert.deepEqual([picks(one, 1, 'y'), picks(one, 1, 'x')].flat(), [C, A]);
  });

  test('USER-11 a client that moves between policies keeps its endpoint where both have it', () => {
    const one = balancer({ affinitySeconds: 100 });
    one.setEndpoints({ cluster: [A, B].map(endpoint), local: [B].map(endpoint) });
    assert.equal(one.pick('Cluster', 'x')?.text, A);
    assert.equal(one.pick('Local', 'x')?.text, B);
    assert.equal(one.pick('Cluster', 'x')?.text, B);
  });
});

describe('least connections', () => {
  test('USER-12 who has fewest gets the next, and equals take turns', () => {
    const one = balancer();
    one.configure('least-connections', 0);
    give(one, A, B, C);
    const take = () => {
      const backend = one.pick('Cluster');
      if (backend) backend.active += 1;
      return backend;
    };
    const [a, b] = [take(), take(), take()];
    assert.equal(take()?.text, A);
    if (b) b.active -= 1;
    assert.equal(take()?.text, B);
    if (a) a.active -= 2;
    assert.equal(take()?.text, A);
  });
});

describe('ejection', () => {
  test('USER-13 one that refuses is left alone for five seconds, unless nobody else is there', async () => {
    const clock = new ManualClock();
    const one = balancer({ clock });
    give(one, A, B);
    const a = one.pick('Cluster');
    assert.ok(a);
    one.eject(a);
    assert.deepEqual(picks(one, 3), [B, B, B]);
    assert.equal(one.pick('Cluster', undefined, refusedBy(one.pick('Cluster')))?.text, A);
    await clock.advance(5000);
    assert.ok(picks(one, 2).includes(A));
  });

  test('USER-13 one that does not answer in time is left alone after the second time in a row', () => {
    const one = balancer();
    give(one, A, B);
    const a = one.pick('Cluster');
    assert.ok(a);
    one.silent(a);
    one.answered(a);
    one.silent(a);
    assert.ok(picks(one, 2).includes(A));
    one.silent(a);
    assert.deepEqual(picks(one, 2), [B, B]);
  });

  test('USER-13 one that refused this connection is not asked again for it', () => {
    const one = balancer();
    give(one, A);
    assert.equal(one.pick('Cluster', undefined, refusedBy(one.pick('Cluster'))), undefined);
  });

  test('USER-13 a client of one that is left alone moves', () => {
    const one = balancer({ affinitySeconds: 100 });
    give(one, A, B);
    const a = one.pick('Cluster', 'x');
    assert.ok(a);
    one.eject(a);
    assert.deepEqual(picks(one, 2, 'x'), [B, B]);
  });
});
