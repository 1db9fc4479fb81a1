import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { until } from '../../../test/support/nftables-mode.ts';
import { Iptables } from '../../kernel/iptables/index.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
import { CANARY_TABLES, ensureJumpsAndCanaries } from './chains/jumps-and-canaries.ts';
import { DriftFinder } from './drift.ts';
import { Chain } from './names.ts';

const FLUSHED = 'another program flushed the iptables rules';

class DriftTest {
  readonly clock = new ManualClock();
  readonly notices: string[] = [];
  readonly finder: DriftFinder;
  /** What the search for missing rules finds. */
  missing: string | undefined;
  /** Real milliseconds that a search takes. */
  searchMs = 0;
  searches = 0;
  readonly #namespace: NetworkNamespace;

  constructor(namespace: NetworkNamespace, iptables: Iptables) {
    this.#namespace = namespace;
    this.finder = new DriftFinder({
      iptables,
      clock: this.clock,
      missing: async () => {
        this.searches++;
        await delay(this.searchMs);
        return this.missing;
      },
      notice: message => this.notices.push(message),
    });
  }

  /** Another program adds a chain. */
  addChain(chain: string): void {
    this.#namespace.run(() => spawnSync('iptables', ['-N', chain], { stdio: 'ignore' }));
  }

  deleteCanaries(...tables: readonly string[]): void {
    for (const table of tables) {
      this.#namespace.run(() => spawnSync('iptables', ['-t', table, '-X', Chain.CANARY], { stdio: 'ignore' }));
    }
  }
}

async function withFinder(work: (drift: DriftTest) => Promise<void>): Promise<void> {
  const namespace = NetworkNamespace.create();
  try {
    const iptables = await Iptables.open('ip', { namespace });
    await ensureJumpsAndCanaries(iptables);
    const drift = new DriftTest(namespace, iptables);
    await work(drift);
    drift.finder.close();
  } finally {
    namespace.close();
  }
}

test('IPT-8 a missing rule is drift; without a change of the ruleset there is no search', () =>
  withFinder(async drift => {
    assert.equal(await drift.finder.find(), undefined);
    drift.missing = 'chain KUBE-SVC-A is gone';
    assert.equal(await drift.finder.find(), undefined);
    assert.equal(drift.searches, 1);
    drift.addChain('A');
    await drift.clock.advance(60_000);
    assert.equal(await drift.finder.find(), 'another program changed our iptables rules: chain KUBE-SVC-A is gone');
  }));

test('IPT-8 a long search is not repeated at once, however often rules change', () =>
  withFinder(async drift => {
    drift.searchMs = 100;
    await drift.finder.find();
    drift.addChain('A');
    await drift.clock.advance(1000);
    await drift.finder.find();
    assert.equal(drift.searches, 1);
    // A search takes at most a twentieth of the time.
    await drift.clock.advance(60_000);
    await drift.finder.find();
    assert.equal(drift.searches, 2);
  }));

test('IPT-8 the finder waits until a flush has reached all tables', () =>
  withFinder(async drift => {
    drift.deleteCanaries('mangle');
    let found: string | undefined;
    void drift.finder.find().then(cause => {
      found = cause;
    });
    for (let i = 0; i < 3; i++) {
      assert.ok(await until(() => drift.clock.pending === 1, 5000));
      await drift.clock.advance(100);
    }
    assert.equal(found, undefined);
    drift.deleteCanaries('nat', 'filter');
    assert.ok(await until(() => drift.clock.pending === 1, 5000));
    await drift.clock.advance(100);
    assert.ok(await until(() => found !== undefined, 5000));
    assert.equal(found, FLUSHED);
    assert.deepEqual(drift.notices, []);
  }));

test('IPT-8 a flush that never reaches all tables gets a notice, and is drift all the same', () =>
  withFinder(async drift => {
    drift.deleteCanaries('mangle');
    let found: string | undefined;
    void drift.finder.find().then(cause => {
      found = cause;
    });
    while (found === undefined) {
      assert.ok(await until(() => drift.clock.pending === 1 || found !== undefined, 5000));
      await drift.clock.advance(1000);
    }
    assert.equal(found, FLUSHED);
    assert.deepEqual(drift.notices, ['Another program flushed only some of the iptables tables']);
  }));

test('IPT-8 a flush of all tables is found at once', () =>
  withFinder(async drift => {
    drift.deleteCanaries(...CANARY_TABLES);
    assert.equal(await drift.finder.find(), FLUSHED);
  }));
