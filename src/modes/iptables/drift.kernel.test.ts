import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
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

test('IPT-8 a missing rule is drift, but the finder searches only if the ruleset changed', () =>
  withFinder(async drift => {
    assert.equal(await drift.finder.find(), undefined);
    drift.missing = 'chain KUBE-SVC-A is gone';
    await drift.clock.advance(60_000);
    assert.equal(await drift.finder.find(), undefined);
    assert.equal(drift.searches, 1);
    drift.addChain('A');
    await drift.clock.advance(60_000);
    assert.equal(await drift.finder.find(), 'another program changed our iptables rules: chain KUBE-SVC-A is gone');
  }));

test('IPT-8 the finder does not repeat a long search at once, even if rules change again', () =>
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
      await waitFor('the finder waits', () => drift.clock.pending === 1);
      await drift.clock.advance(100);
    }
    assert.equal(found, undefined);
    drift.deleteCanaries('nat', 'filter');
    // The look that runs now may see them already, or the next one does.
    await waitFor('the finder waits or reports drift', () => drift.clock.pending === 1 || found !== undefined);
    await drift.clock.advance(100);
    await waitFor('the finder reports drift', () => found !== undefined);
    assert.equal(found, FLUSHED);
    assert.deepEqual(drift.notices, []);
  }));

test('IPT-8 a flush that never reaches all tables is drift too, and the operator gets a notice', () =>
  withFinder(async drift => {
    drift.deleteCanaries('mangle');
    let found: string | undefined;
    void drift.finder.find().then(cause => {
      found = cause;
    });
    while (found === undefined) {
      await waitFor('the finder waits or reports drift', () => drift.clock.pending === 1 || found !== undefined);
      await drift.clock.advance(1000);
    }
    assert.equal(found, FLUSHED);
    assert.ok(drift.clock.elapsed() >= 5000 && drift.clock.elapsed() < 10_000, `${drift.clock.elapsed()} ms`);
    assert.deepEqual(drift.notices, ['Another program flushed only some of the iptables tables']);
  }));

test('IPT-8 a closed finder does not wait for the end of a flush', () =>
  withFinder(async drift => {
    drift.deleteCanaries('mangle');
    const found = drift.finder.find();
    await waitFor('the finder waits', () => drift.clock.pending === 1);
    drift.finder.close();
    await drift.clock.advance(100);
    await found;
    assert.deepEqual([drift.clock.pending, drift.notices], [0, []]);
  }));

test('IPT-8 the finder reports a flush of all tables at once', () =>
  withFinder(async drift => {
    drift.deleteCanaries(...CANARY_TABLES);
    assert.equal(await drift.finder.find(), FLUSHED);
  }));
