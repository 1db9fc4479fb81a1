import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { HeldProcess } from '../../test/support/held-process.ts';
import { setLoopbackUp, withNamespace } from '../../test/support/namespaces.ts';
import { type HeldPort, holdPort } from '../../test/support/port-holder.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';
import { listenTcp } from '../kernel/sockets/index.ts';
import type { Ip } from '../net/index.ts';
import { findListeners, type ListenerQuery } from './index.ts';

const TCP: ListenerQuery = { family: 'IPv4', protocol: 'TCP', port: 30080 };

async function withHolder(
  held: HeldPort,
  work: (namespace: NetworkNamespace, holder: HeldProcess) => Promise<void>,
): Promise<void> {
  await withNamespace(async namespace => {
    setLoopbackUp(namespace);
    const holder = await holdPort(namespace, held);
    try {
      await work(namespace, holder);
    } finally {
      await holder.close();
    }
  });
}

test('MACHINE-30 a listener of another process is found with its name and id', () =>
  withHolder({ protocol: 'TCP', ip: '127.0.0.1', port: 30080 }, async (namespace, { pid }) => {
    const found = await findListeners(TCP, { namespace, timeoutMs: 60_000 });
    assert.deepEqual(found, {
      listeners: [{ ip: '127.0.0.1', port: 30080, process: { pid, name: 'node' }, isOwn: false }],
      incomplete: undefined,
    });
    for (const other of [{ port: 30081 }, { protocol: 'UDP' }, { family: 'IPv6' }] as const) {
      assert.deepEqual((await findListeners({ ...TCP, ...other }, { namespace })).listeners, []);
    }
  }));

test('MACHINE-30 a UDP socket counts as a listener', () =>
  withHolder({ protocol: 'UDP', ip: '0.0.0.0', port: 30080 }, async (namespace, { pid }) => {
    const { listeners } = await findListeners({ ...TCP, protocol: 'UDP' }, { namespace, timeoutMs: 60_000 });
    assert.deepEqual(
      listeners.map(({ ip, process }) => [ip, process?.pid]),
      [['0.0.0.0', pid]],
    );
  }));

test('MACHINE-31 a listener at all IPv6 addresses takes IPv4 connections too, unless it is for IPv6 only', async () => {
  const count = async (namespace: NetworkNamespace, family: ListenerQuery['family']) =>
    (await findListeners({ ...TCP, family }, { namespace, timeoutMs: 60_000 })).listeners.length;
  await withHolder({ protocol: 'TCP', ip: '::', port: 30080 }, async namespace => {
    assert.deepEqual([await count(namespace, 'IPv4'), await count(namespace, 'IPv6')], [1, 1]);
  });
  await withHolder({ protocol: 'TCP', ip: '::', port: 30080, isV6Only: true }, async namespace => {
    assert.deepEqual([await count(namespace, 'IPv4'), await count(namespace, 'IPv6')], [0, 1]);
  });
});

test('MACHINE-32 a listener of this process is its own, and a search without time names no process', () =>
  withNamespace(async namespace => {
    setLoopbackUp(namespace);
    const server = await listenTcp(namespace, '0.0.0.0' as Ip, 30080, () => {});
    try {
      const { listeners } = await findListeners(TCP, { namespace, timeoutMs: 60_000 });
      assert.deepEqual(
        listeners.map(({ isOwn, process: owner }) => [isOwn, owner?.pid]),
        [[true, process.pid]],
      );
      const late = await findListeners(TCP, { namespace, timeoutMs: 0 });
      assert.deepEqual([late.listeners.length, late.listeners[0]?.process], [1, undefined]);
      assert.match(late.incomplete ?? '', /^the search for processes took longer than 0 ms$/);
    } finally {
      server.close();
      await once(server, 'close');
    }
  }));
