import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { encodeSocketAddress } from '../../kernel/sockets/index.ts';
import type { Endpoint } from '../../model/index.ts';
import type { Ip } from '../../net/index.ts';
import type { Backend } from './backend.ts';
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
    zone: undefined,
    weight: undefined,
    zoneHints: undefined,
    nodeHints: undefined,
    ...conditions,
  };
}

const A = '10.0.0.1:80';
const B = '10.0.0.2:80';
const C = '10.0.0.3:80';

function balancer({ affinitySeconds = 0, balance = 'round-robin' as const, clock = new ManualClock() } = {}) {
  // Rising keys keep the order of the endpoints.
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

function refusedBy(...backends: readonly (Backend | undefined)[]) {
  return { refused: new Set(backends.flatMap(backend => backend ?? [])) };
}

describe('round robin', () => {
  test('USER-10 without endpoints there is no choice', () => {
    assert.equal(balancer().pick('Cluster'), undefined);
  });

  test('USER-10 a single endpoint gets every connection, with or without a known client', () => {
    const one = balancer();
    give(one, A);
    assert.deepEqual([...picks(one, 2), ...picks(one, 1, '1.2.3.4')], [A, A, A]);
  });

  test('USER-10 endpoints take turns, and two ports of one address are two endpoints', () => {
    const several = balancer();
    give(several, '10.0.0.1:1', '10.0.0.1:2', '10.0.0.1:3');
    assert.deepEqual(picks(several, 4), ['10.0.0.1:1', '10.0.0.1:2', '10.0.0.1:3', '10.0.0.1:1']);
  });

  test('USER-10 a new round begins when the membership changes, and only then', () => {
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

  test('USER-10 each policy has its own round', () => {
    const one = balancer();
    one.setEndpoints({ cluster: [A, B].map(endpoint), local: [B].map(endpoint) });
    assert.equal(one.pick('Cluster')?.text, A);
    assert.equal(one.pick('Local')?.text, B);
    assert.equal(one.pick('Cluster')?.text, B);
  });

  test('USER-10 all endpoints get the same share, whatever their number', () => {
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
  test('USER-11 a client keeps its endpoint, whether endpoints or affinity came first, and others take turns', () => {
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

  test('USER-11 affinity lasts for the timeout after the last use, and a new timeout takes effect at once', async () => {
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

  test('USER-11 only clients of a removed endpoint move; an added endpoint moves no client', () => {
    const one = balancer({ affinitySeconds: 100 });
    give(one, A, B, C);
    for (const client of ['a', 'b', 'c']) picks(one, 1, client);
    give(one, A, B);
    assert.deepEqual([picks(one, 1, 'a'), picks(one, 1, 'b'), picks(one, 1, 'c')].flat(), [A, B, A]);
    give(one, A, B, C);
    assert.deepEqual([picks(one, 1, 'a'), picks(one, 1, 'b'), picks(one, 1, 'c')].flat(), [A, B, A]);
    assert.deepEqual(picks(one, 1, 'd'), [A], 'a new client gets the first endpoint of the new round');
  });

  test('USER-11 when all endpoints are replaced, all clients move', () => {
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

  test('USER-11 a client whose endpoint fails gets another one and keeps it; other clients stay', () => {
    const one = balancer({ affinitySeconds: 100 });
    give(one, A, B, C);
    picks(one, 1, 'x');
    const y = one.pick('Cluster', 'y');
    assert.equal(y?.text, B);
    assert.equal(one.pick('Cluster', 'y', refusedBy(y))?.text, C);
    assert.deepEqual([picks(one, 1, 'y'), picks(one, 1, 'x')].flat(), [C, A]);
  });

  test('USER-11 a client that changes between policies keeps its endpoint if both policies have it', () => {
    const one = balancer({ affinitySeconds: 100 });
    one.setEndpoints({ cluster: [A, B].map(endpoint), local: [B].map(endpoint) });
    assert.equal(one.pick('Cluster', 'x')?.text, A);
    assert.equal(one.pick('Local', 'x')?.text, B);
    assert.equal(one.pick('Cluster', 'x')?.text, B);
  });
});

describe('least connections', () => {
  test('USER-12 the endpoint with the fewest connections gets the next one, and equal endpoints take turns', () => {
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
  test('USER-13 an endpoint that refuses is avoided for five seconds while there are others', async () => {
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

  test('USER-13 an endpoint that does not answer twice in a row is avoided', () => {
    const one = balancer();
    give(one, A, B);
    const a = one.pick('Cluster');
    assert.ok(a);
    one.noteTimeout(a);
    one.noteAnswer(a);
    one.noteTimeout(a);
    assert.ok(picks(one, 2).includes(A));
    one.noteTimeout(a);
    assert.deepEqual(picks(one, 2), [B, B]);
  });

  test('USER-13 an endpoint that refused a connection is not asked again for it', () => {
    const one = balancer();
    give(one, A);
    assert.equal(one.pick('Cluster', undefined, refusedBy(one.pick('Cluster'))), undefined);
  });

  test('USER-13 a client of an avoided endpoint moves', () => {
    const one = balancer({ affinitySeconds: 100 });
    give(one, A, B);
    const a = one.pick('Cluster', 'x');
    assert.ok(a);
    one.eject(a);
    assert.deepEqual(picks(one, 2, 'x'), [B, B]);
  });
});

describe('other algorithms', () => {
  const slotsOf = (...texts: readonly string[]) => ({ cluster: texts.map(endpoint), local: [] });
  const giveSlots = (to: Balancer, endpoints: readonly string[], ...slots: readonly string[]) =>
    to.setEndpoints({ cluster: endpoints.map(endpoint), local: [] }, slotsOf(...slots));

  test('BALANCE-51 endpoints take turns by slot, an endpoint without a slot gets nothing, and the round begins anywhere', () => {
    const one = new Balancer({ clock: new ManualClock(), random: () => 0.5 });
    one.configure('weighted', 0);
    giveSlots(one, [A, B, C], A, B, A);
    assert.deepEqual(picks(one, 6), [B, A, A, B, A, A]);
    giveSlots(one, [A, B, C], A, B, A);
    assert.deepEqual(picks(one, 1), [B], 'the same slots go on');
    giveSlots(one, [A, B, C], A, A, B, A);
    assert.deepEqual(picks(one, 4), [B, A, A, A], 'other slots begin a new round');
    giveSlots(one, [A, B, C], B, C);
    assert.deepEqual(picks(one, 3), [B, C, B]);
  });

  test('BALANCE-51 an endpoint that loses its last slot keeps its connections, and its clients move', () => {
    const one = balancer({ affinitySeconds: 100 });
    giveSlots(one, [A, B], A, B);
    const a = one.pick('Cluster', 'x');
    assert.equal(a?.text, A);
    assert.deepEqual(giveSlots(one, [A, B], B), []);
    assert.equal(a?.isGone, false);
    assert.deepEqual(picks(one, 1, 'x'), [B]);
  });

  test('BALANCE-52 chance picks a slot, and another one among those left if the endpoint is not usable', () => {
    let next = 0;
    const one = new Balancer({ clock: new ManualClock(), random: () => next });
    one.configure('random', 0);
    giveSlots(one, [A, B], A, A, B);
    next = 0.99;
    assert.deepEqual(picks(one, 1), [B]);
    next = 0;
    const a = one.pick('Cluster');
    assert.equal(a?.text, A);
    assert.equal(one.pick('Cluster', undefined, refusedBy(a))?.text, B);
    if (a) one.eject(a);
    assert.deepEqual(picks(one, 2), [B, B]);
    assert.equal(one.pick('Cluster', undefined, refusedBy(a, one.pick('Cluster'))), undefined);
  });

  test('BALANCE-53 weights count: an endpoint with three slots of four gets three connections of four', () => {
    const one = balancer();
    one.configure('least-connections', 0);
    giveSlots(one, [A, B, C], A, A, B, A);
    const active = new Map<string, number>();
    for (let i = 0; i < 40; i++) {
      const backend = one.pick('Cluster');
      assert.ok(backend);
      backend.active += 1;
      active.set(backend.text, backend.active);
    }
    assert.deepEqual([active.get(A), active.get(B), active.get(C)], [30, 10, undefined]);
  });

  test('BALANCE-54 a hash always gets the same slot, and the endpoints behind it if that one fails', async () => {
    const clock = new ManualClock();
    const one = balancer({ clock });
    one.configure('consistent-hash', 0, 'client-address');
    giveSlots(one, [A, B, C], A, A, B, C, C, A);
    const pick = (hash: number, ...failed: readonly (Backend | undefined)[]) =>
      one.pick('Cluster', undefined, failed.length === 0 ? undefined : refusedBy(...failed), hash);
    const texts = () => Array.from({ length: 7 }, (_, hash) => pick(hash)?.text);
    assert.deepEqual(texts(), [A, A, B, C, C, A, A]);
    assert.deepEqual(texts(), [A, A, B, C, C, A, A]);
    const [a, b, c] = [pick(0), pick(2), pick(3)];
    assert.equal(pick(0, a)?.text, B);
    assert.equal(pick(2, b)?.text, C);
    assert.equal(pick(2, b, c)?.text, A);
    assert.equal(pick(2, a, b, c), undefined);
    if (b) one.eject(b);
    assert.deepEqual(texts(), [A, A, C, C, C, A, A]);
    await clock.advance(5000);
    assert.deepEqual(texts(), [A, A, B, C, C, A, A]);
  });

  test('BALANCE-54 the hash takes the address of a client, and its port if the Service says so', () => {
    const one = balancer();
    for (const [family, ip] of [
      ['IPv4', '10.1.2.3'],
      ['IPv6', 'fd00::1:2:3'],
    ] as const) {
      const hash = (port: number, address = ip as string) => one.hash(family, encodeSocketAddress(address as Ip, port));
      assert.equal(hash(1), 0, 'other algorithms hash nothing');
      one.configure('consistent-hash', 0, 'client-address');
      assert.equal(hash(1), hash(2));
      assert.notEqual(hash(1), hash(1, family === 'IPv4' ? '10.1.2.4' : 'fd00::1:2:4'));
      one.configure('consistent-hash', 0, 'client-address-and-port');
      assert.equal(hash(1), hash(1));
      assert.notEqual(hash(1), hash(2));
      one.configure('round-robin', 0, 'client-address');
    }
  });

  test('BALANCE-55 a client with affinity keeps its endpoint, whatever the algorithm chooses for others', () => {
    for (const algorithm of ['random', 'least-connections', 'consistent-hash', 'weighted'] as const) {
      const one = balancer();
      one.configure(algorithm, 100, 'client-address');
      giveSlots(one, [A, B], A, B, A);
      const first = one.pick('Cluster', 'x', undefined, 0);
      if (first) first.active += 5;
      for (let hash = 0; hash < 4; hash++) assert.equal(one.pick('Cluster', 'x', undefined, hash), first, algorithm);
    }
  });

  test('BALANCE-55 an attempt without an answer goes on to another endpoint, with every algorithm', () => {
    for (const algorithm of ['round-robin', 'random', 'least-connections', 'consistent-hash'] as const) {
      const one = new Balancer({ clock: new ManualClock(), random: () => 0 });
      one.configure(algorithm, 0, 'client-address');
      giveSlots(one, [A, B], A, B, A);
      const first = one.pick('Cluster');
      assert.ok(first);
      const failed = { refused: new Set<Backend>(), silent: new Set([first]) };
      const others = [one.pick('Cluster', undefined, failed), one.pick('Cluster', undefined, failed)];
      assert.ok(!others.includes(first), algorithm);
      const [other] = others;
      if (other) one.eject(other);
      assert.equal(one.pick('Cluster', undefined, failed), first, 'a silent endpoint is better than one that refuses');
    }
  });
});
