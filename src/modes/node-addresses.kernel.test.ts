import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { descriptorsAfterFailures } from '../../test/support/ipvs-failing-opens.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { NetworkNamespace } from '../kernel/netns.ts';
import { RouteSocket } from '../kernel/rtnetlink/index.ts';
import type { Ip } from '../net/index.ts';
import { NodeAddresses } from './node-addresses.ts';

const LO = { index: 1, name: 'lo' };

class Case {
  readonly namespace = NetworkNamespace.create();
  readonly clock = new ManualClock();
  readonly heard: string[] = [];
  /** What happens when an address changed. */
  changed = () => {};
  readonly addresses = new NodeAddresses(
    this.namespace,
    ip => {
      this.heard.push(`changed ${ip ?? 'something'}`);
      this.changed();
    },
    error => this.heard.push(`failed: ${error.message}`),
    { clock: this.clock },
  );
  readonly #route = RouteSocket.open({ namespace: this.namespace });

  add(ip: string): void {
    this.#route.addAddress(LO, { ip: ip as Ip, prefix: 32 });
  }

  /** What is heard next; notifications come by themselves. */
  async next(count = 1): Promise<readonly string[]> {
    for (let i = 0; i < 200 && this.heard.length < count; i++) await delay(5);
    return this.heard.splice(0);
  }

  close(): void {
    this.addresses.close();
    this.#route.close();
    this.namespace.close();
  }
}

async function withAddresses(work: (it: Case) => Promise<void>): Promise<void> {
  const it = new Case();
  try {
    await work(it);
  } finally {
    it.close();
  }
}

describe('following the addresses of the node', () => {
  test('SYNC-8 after a failure notifications are asked for again, and what was missed is told', () =>
    withAddresses(async it => {
      it.changed = () => assert.fail('kaputt');
      it.add('192.0.2.1');
      assert.deepEqual(await it.next(2), ['changed 192.0.2.1', 'failed: kaputt']);
      it.changed = () => {};
      it.add('192.0.2.2');
      await it.clock.advance(999);
      assert.deepEqual(it.heard, []);
      await it.clock.advance(1);
      assert.deepEqual(await it.next(), ['changed something']);
      it.add('192.0.2.3');
      assert.deepEqual(await it.next(), ['changed 192.0.2.3']);
      assert.deepEqual(it.addresses.list(), ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
      assert.equal(it.clock.pending, 0);
    }));

  test('SYNC-8 the pause doubles up to a minute as long as it fails, and is short again once it works', () =>
    withAddresses(async it => {
      it.changed = () => assert.fail('kaputt');
      it.add('192.0.2.1');
      await it.next(2);
      for (const pause of [1, 2, 4, 8, 16, 32, 60, 60]) {
        await it.clock.advance(pause * 1000 - 1);
        assert.deepEqual(it.heard, []);
        await it.clock.advance(1);
        assert.deepEqual(await it.next(2), ['changed something', 'failed: kaputt']);
      }
      it.changed = () => {};
      await it.clock.advance(60_000);
      it.add('192.0.2.2');
      assert.deepEqual(await it.next(2), ['changed something', 'changed 192.0.2.2']);
      it.changed = () => assert.fail('kaputt');
      it.add('192.0.2.3');
      await it.next(2);
      await it.clock.advance(1000);
      assert.deepEqual(await it.next(2), ['changed something', 'failed: kaputt']);
    }));

  test('SYNC-8 once closed, nothing is tried again', () =>
    withAddresses(async it => {
      it.changed = () => assert.fail('kaputt');
      it.add('192.0.2.1');
      await it.next(2);
      it.addresses.close();
      assert.equal(it.clock.pending, 0);
    }));

  test('SYNC-8 what was opened is closed if something else cannot be', () => {
    const open = (namespace: NetworkNamespace) =>
      new NodeAddresses(
        namespace,
        () => {},
        () => {},
      );
    const { failures, left } = descriptorsAfterFailures(open);
    assert.equal(failures, 2);
    assert.equal(left, 0);
  });
});
