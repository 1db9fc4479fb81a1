import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { descriptorsAfterFailures } from '../../test/support/ipvs-failing-opens.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { NetworkNamespace } from '../kernel/netns.ts';
import { type LinkRef, RouteSocket } from '../kernel/rtnetlink/index.ts';
import type { Ip } from '../net/index.ts';
import { NodeAddresses, type NodeAddressesOptions } from './node-addresses.ts';

const LO = { index: 1, name: 'lo' };

class AddressTest {
  readonly namespace = NetworkNamespace.create();
  readonly clock = new ManualClock();
  readonly reports: string[] = [];
  /** Called for each change. It can fail. */
  changed = () => {};
  readonly addresses: NodeAddresses;
  readonly #route = RouteSocket.open({ namespace: this.namespace });

  constructor(options: NodeAddressesOptions = {}) {
    this.addresses = new NodeAddresses(
      this.namespace,
      ip => {
        this.reports.push(`changed ${ip ?? 'something'}`);
        this.changed();
      },
      error => this.reports.push(`failed: ${error.message}`),
      { clock: this.clock, ...options },
    );
  }

  addLink(name: string): LinkRef {
    return this.#route.addLink({ kind: 'bridge', name });
  }

  deleteLink(link: LinkRef): void {
    this.#route.deleteLink(link);
  }

  add(ip: string, link: LinkRef = LO): void {
    this.#route.addAddress(link, { ip: ip as Ip, prefix: 32 });
  }

  /** Waits for at least `count` reports, and returns all of them. */
  async next(count = 1): Promise<readonly string[]> {
    for (let i = 0; i < 200 && this.reports.length < count; i++) await delay(5);
    return this.reports.splice(0);
  }

  close(): void {
    this.addresses.close();
    this.#route.close();
    this.namespace.close();
  }
}

async function withAddresses(
  work: (it: AddressTest) => Promise<void>,
  options: NodeAddressesOptions = {},
): Promise<void> {
  const it = new AddressTest(options);
  try {
    await work(it);
  } finally {
    it.close();
  }
}

describe('the addresses of the node', () => {
  test('SYNC-8 after a failure the process listens again, and reports that any address may have changed', () =>
    withAddresses(async it => {
      it.changed = () => assert.fail('kaputt');
      it.add('192.0.2.1');
      assert.deepEqual(await it.next(2), ['changed 192.0.2.1', 'failed: kaputt']);
      it.changed = () => {};
      it.add('192.0.2.2');
      await it.clock.advance(999);
      assert.deepEqual(it.reports, []);
      await it.clock.advance(1);
      assert.deepEqual(await it.next(), ['changed something']);
      it.add('192.0.2.3');
      assert.deepEqual(await it.next(), ['changed 192.0.2.3']);
      assert.deepEqual(it.addresses.list(), ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
      assert.equal(it.clock.pending, 0);
    }));

  test('SYNC-8 the pause after a failure doubles up to a minute, and is short again after a success', () =>
    withAddresses(async it => {
      it.changed = () => assert.fail('kaputt');
      it.add('192.0.2.1');
      await it.next(2);
      for (const pause of [1, 2, 4, 8, 16, 32, 60, 60]) {
        await it.clock.advance(pause * 1000 - 1);
        assert.deepEqual(it.reports, []);
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

  test('SYNC-8 if the kernel drops notifications, the process reports that any address may have changed', () =>
    withAddresses(
      async it => {
        for (let i = 0; i < 200; i++) it.add(`192.0.2.${i}`);
        await waitFor('the report', () => it.reports.includes('changed something'));
        const named = it.reports.filter(report => report !== 'changed something');
        assert.ok(named.length < 200, 'the kernel dropped notifications');
        it.reports.splice(0);
        it.add('198.51.100.1');
        assert.deepEqual(await it.next(), ['changed 198.51.100.1'], 'the process still listens');
      },
      { receiveBuffer: 4096 },
    ));

  test('SYNC-8 after dropped notifications the process still ignores a link that was created again', () => {
    const changes: string[] = [];
    const exceptLinkChanged: NodeAddressesOptions['exceptLinkChanged'] = event => {
      if (event.kind === 'address') changes.push(`${event.type} ${event.address.ip}`);
    };
    return withAddresses(
      async it => {
        for (let i = 0; i < 200; i++) it.add(`192.0.2.${i}`);
        const link = it.addLink('own');
        await waitFor('the report', () => it.reports.includes('changed something'));
        it.reports.splice(0);
        it.add('198.51.100.1', link);
        await waitFor('the change of the link', () => changes.length > 0);
        assert.deepEqual(changes, ['new 198.51.100.1']);
        assert.deepEqual(it.reports, []);
      },
      { receiveBuffer: 4096, exceptLink: 'own', exceptLinkChanged },
    );
  });

  test('IPVS-4 the excepted link may be created later, and again with another index', () => {
    const changes: string[] = [];
    const exceptLinkChanged: NodeAddressesOptions['exceptLinkChanged'] = event => {
      if (event.kind === 'address') changes.push(`${event.type} ${event.address.ip}`);
    };
    return withAddresses(
      async it => {
        for (const ip of ['198.51.100.1', '198.51.100.2']) {
          const link = it.addLink('own');
          it.add(ip, link);
          await waitFor('the change of the link', () => changes.includes(`new ${ip}`));
          it.deleteLink(link);
          await waitFor('the end of the link', () => changes.includes(`del ${ip}`));
        }
        assert.deepEqual(it.reports, []);
      },
      { exceptLink: 'own', exceptLinkChanged },
    );
  });

  test('SYNC-8 after closing, the process does not listen again', () =>
    withAddresses(async it => {
      it.changed = () => assert.fail('kaputt');
      it.add('192.0.2.1');
      await it.next(2);
      it.addresses.close();
      assert.equal(it.clock.pending, 0);
    }));

  test('IPVS-4 addresses of the excepted link are not listed, and their changes are reported apart', async () => {
    const namespace = NetworkNamespace.create();
    const route = RouteSocket.open({ namespace });
    const reports: string[] = [];
    const addresses = new NodeAddresses(
      namespace,
      ip => reports.push(`changed ${ip}`),
      error => assert.fail(error),
      { exceptLink: 'lo', exceptLinkChanged: ({ kind, type }) => reports.push(`except ${type} ${kind}`) },
    );
    try {
      route.addAddress(LO, { ip: '192.0.2.1' as Ip, prefix: 32 });
      for (let i = 0; i < 200 && reports.length === 0; i++) await delay(5);
      assert.deepEqual(reports, ['except new address']);
      assert.deepEqual(addresses.list(), []);
    } finally {
      addresses.close();
      route.close();
      namespace.close();
    }
  });

  test('SYNC-8 after closing no socket is open', () => {
    const namespace = NetworkNamespace.create();
    const before = readdirSync('/proc/self/fd').length;
    new NodeAddresses(
      namespace,
      () => {},
      () => {},
    ).close();
    const after = readdirSync('/proc/self/fd').length;
    namespace.close();
    assert.equal(after, before);
  });

  test('SYNC-8 if one socket cannot be opened, the others are closed', () => {
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
