import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { FrontendConnections } from '../../frontend-connections.ts';
import { ConnectionTotals } from './connection-totals.ts';

type Counters = Readonly<Record<string, number>>;

async function* counters(counts: Counters): AsyncGenerator<FrontendConnections> {
  // A service port has several frontends, which come in any order.
  for (const share of [0, 1]) {
    for (const [service, count] of Object.entries(counts)) {
      yield { family: 'IPv4', service, port: '', connections: share === 0 ? count >> 1 : count - (count >> 1) };
    }
  }
}

function shown(totals: ConnectionTotals): Counters {
  return Object.fromEntries([...totals.totals()].map(({ service = 'other', connections }) => [service, connections]));
}

async function after(max: number, ...readings: Counters[]): Promise<Counters> {
  const totals = new ConnectionTotals(max);
  for (const reading of readings) await totals.take(counters(reading));
  return shown(totals);
}

test('METRICS-10 the service ports with most connections have names, and all others are one sum', async () => {
  assert.deepEqual(await after(2, { a: 5, b: 1, c: 9, d: 0, e: 3 }), { c: 9, a: 5, other: 4 });
});

test('METRICS-10 a named service port stays named, even if others get more connections', async () => {
  assert.deepEqual(await after(1, { a: 2, b: 1 }, { a: 2, b: 50 }, { a: 3, b: 70 }), { a: 3, other: 70 });
});

test('METRICS-10 a service port without connections is not named', async () => {
  assert.deepEqual(await after(1, { a: 0, b: 0 }, { a: 0, b: 4 }), { b: 4, other: 0 });
});

test('METRICS-10 a counter that restarts at zero does not lower its total', async () => {
  assert.deepEqual(await after(1, { a: 10, b: 4 }, { a: 1, b: 1 }, { a: 3, b: 2 }), { a: 12, other: 5 });
});

test('METRICS-10 a removed service port frees its name for another, and no sum decreases', async () => {
  assert.deepEqual(await after(1, { a: 10, b: 4, c: 1 }, { b: 5, c: 1 }, { b: 6, c: 2 }, { b: 7, c: 4 }), {
    b: 7,
    other: 8,
  });
});

test('METRICS-10 each family has its own totals', async () => {
  const totals = new ConnectionTotals(1);
  await totals.take(
    (async function* () {
      yield { family: 'IPv4', service: 'a', port: '', connections: 3 } as const;
      yield { family: 'IPv6', service: 'a', port: '', connections: 2 } as const;
    })(),
  );
  assert.deepEqual(
    [...totals.totals()],
    [
      { family: 'IPv4', service: 'a', port: '', connections: 3 },
      { family: 'IPv4', service: undefined, port: '', connections: 0 },
      { family: 'IPv6', service: undefined, port: '', connections: 2 },
    ],
  );
});

test('METRICS-10 a reading that fails changes nothing', async () => {
  const totals = new ConnectionTotals(2);
  await totals.take(counters({ a: 1, b: 2, c: 3 }));
  const before = shown(totals);
  const failing = (async function* () {
    yield* counters({ a: 10, c: 30, d: 40 });
    throw new Error('interrupted');
  })();
  await assert.rejects(totals.take(failing), /interrupted/);
  assert.deepEqual(shown(totals), before);
});

test('METRICS-10 for any counters, the number of names stays within the limit and no total decreases', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.nat(20)), { maxLength: 8 }),
      async readings => {
        const totals = new ConnectionTotals(2);
        let before: Counters = {};
        for (const reading of readings) {
          await totals.take(counters(reading));
          const now = shown(totals);
          assert.ok(Object.keys(now).length <= 3);
          for (const [name, total] of Object.entries(now)) assert.ok(total >= (before[name] ?? 0), name);
          before = now;
        }
      },
    ),
  ));
