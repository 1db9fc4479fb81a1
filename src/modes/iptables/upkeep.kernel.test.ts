import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { until } from '../../../test/support/nftables-mode.ts';
import { Iptables } from '../../kernel/iptables/index.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
import { CANARY_TABLES, ensureFrame } from './frame.ts';
import { Chain } from './names.ts';
import { Upkeep } from './upkeep.ts';

const PERIOD_MS = 1000;

interface Watched {
  readonly clock: ManualClock;
  readonly told: string[];
  /** Deletes the canary of some tables. */
  kill(...tables: readonly string[]): void;
  /** What happens at the next look, and what `missing` finds then. */
  look(): Promise<void>;
  missing: string | undefined;
  isBroken: boolean;
  /** Real milliseconds that a look for what is missing takes. */
  takesMs: number;
  readonly looks: number;
  /** Makes a chain that is nobody's. */
  meddle(chain: string): void;
}

async function watching(work: (watched: Watched) => Promise<void>): Promise<void> {
  const namespace = NetworkNamespace.create();
  const clock = new ManualClock();
  const iptables = await Iptables.open('ip', { namespace });
  await ensureFrame(iptables);
  const told: string[] = [];
  let looks = 0;
  const watched: Watched = {
    clock,
    told,
    missing: undefined,
    isBroken: false,
    takesMs: 0,
    get looks() {
      return looks;
    },
    meddle(chain) {
      namespace.run(() => spawnSync('iptables', ['-N', chain], { stdio: 'ignore' }));
    },
    kill(...tables) {
      for (const table of tables) {
        namespace.run(() => spawnSync('iptables', ['-t', table, '-X', Chain.CANARY], { stdio: 'ignore' }));
      }
    },
    async look() {
      const before = looks;
      await clock.advance(PERIOD_MS);
      assert.ok(await until(() => looks > before || told.length > 0, 5000));
    },
  };
  const upkeep = new Upkeep(PERIOD_MS, {
    iptables,
    clock,
    missing: async () => {
      looks++;
      const { missing } = watched;
      await delay(watched.takesMs);
      return missing;
    },
    rewrite: async reason => {
      if (watched.isBroken) throw new Error('broken');
      told.push(reason);
      await ensureFrame(iptables);
    },
    noticed: what => told.push(`noticed: ${what}`),
    failed: error => told.push(`failed: ${error}`),
  });
  try {
    await work(watched);
  } finally {
    await upkeep.close();
    namespace.close();
  }
}

test('IPT-8 as long as all is there nothing is done, and without a change nothing is looked for', () =>
  watching(async watched => {
    await watched.look();
    watched.missing = 'not looked for';
    await watched.clock.advance(PERIOD_MS);
    assert.ok(await until(() => watched.clock.pending === 1, 5000));
    assert.deepEqual(watched.told, []);
  }));

test('IPT-8 a look that takes long is not repeated at once, however often rules change', () =>
  watching(async watched => {
    watched.takesMs = 100;
    await watched.look();
    assert.ok(await until(() => watched.clock.pending === 1, 5000));
    watched.meddle('A');
    await watched.clock.advance(PERIOD_MS);
    assert.ok(await until(() => watched.clock.pending === 1, 5000));
    assert.equal(watched.looks, 1);
    // At most a twentieth of the time.
    await watched.clock.advance(60 * PERIOD_MS);
    assert.ok(await until(() => watched.looks === 2, 5000));
  }));

test('IPT-8 a flush is waited for until it reached all tables', () =>
  watching(async ({ clock, told, kill }) => {
    kill('mangle');
    await clock.advance(PERIOD_MS);
    for (let i = 0; i < 3; i++) {
      assert.ok(await until(() => clock.pending === 1, 5000));
      await clock.advance(100);
    }
    assert.deepEqual(told, []);
    kill('nat', 'filter');
    assert.ok(await until(() => clock.pending === 1, 5000));
    await clock.advance(100);
    assert.ok(await until(() => told.length > 0, 5000));
    assert.deepEqual(told, ['someone flushed the iptables rules']);
  }));

test('IPT-8 one that never reaches them is told, and all is written anew all the same', () =>
  watching(async ({ clock, told, kill }) => {
    kill('mangle');
    await clock.advance(PERIOD_MS);
    while (told.length < 2) {
      assert.ok(await until(() => clock.pending === 1 || told.length === 2, 5000));
      await clock.advance(1000);
    }
    assert.deepEqual(told.slice(0, 2), [
      'noticed: only some of the iptables tables were flushed',
      'someone flushed the iptables rules',
    ]);
  }));

test('IPT-8 a repair that fails is told and tried again', () =>
  watching(async watched => {
    const { told, kill } = watched;
    kill(...CANARY_TABLES);
    watched.isBroken = true;
    await watched.look();
    assert.ok(await until(() => told.length > 0, 5000));
    assert.deepEqual(told, ['failed: Error: broken']);
    watched.isBroken = false;
    assert.ok(await until(() => watched.clock.pending === 1, 5000));
    await watched.clock.advance(PERIOD_MS);
    assert.ok(await until(() => told.length === 2, 5000));
    assert.equal(told[1], 'someone flushed the iptables rules');
  }));
