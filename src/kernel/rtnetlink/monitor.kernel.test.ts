import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { parseIp } from '../../net/index.ts';
import { NetworkNamespace } from '../netns.ts';
import { type RouteEvent, RouteMonitor } from './monitor.ts';
import { RouteSocket } from './socket.ts';

const ip = (text: string) => parseIp(text) ?? assert.fail(text);

/** Waits until the condition is true. Fails after a second. */
async function waitUntil(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200 && !isTrue(); tries++) await delay(5);
  assert.ok(isTrue());
}

function print(event: RouteEvent): string {
  return event.kind === 'link' ? `${event.type} ${event.link.name}` : `${event.type} ${event.address.ip}`;
}

test('KERNEL-11 reports added and deleted links and addresses, but not a port that leaves its bridge', async () => {
  const namespace = NetworkNamespace.create();
  const events: string[] = [];
  const handlers = {
    event: (event: RouteEvent) => void events.push(print(event)),
    overrun: () => assert.fail('overrun'),
    failed: (error: Error) => assert.fail(error),
  };
  const monitor = RouteMonitor.open(handlers, { namespace });
  const socket = RouteSocket.open({ namespace });
  try {
    const bridge = socket.addLink({ kind: 'bridge', name: 'br0' });
    const veth = socket.addLink({ kind: 'veth', name: 'veth0', peer: { name: 'veth1' } });
    socket.setLink(veth, { master: bridge });
    socket.setLink(veth, { master: null });
    for (const text of ['10.0.0.1', 'fd00::1']) socket.addAddress(bridge, { ip: ip(text), prefix: 32 });
    socket.deleteAddress(bridge, { ip: ip('10.0.0.1'), prefix: 32 });
    await waitUntil(() => events.includes('del 10.0.0.1'));
    for (const event of ['new br0', 'new veth0', 'new 10.0.0.1', 'new fd00::1']) assert.ok(events.includes(event));
    assert.ok(!events.includes('del veth0'));
    socket.deleteLink(bridge);
    await waitUntil(() => events.includes('del br0') && events.includes('del fd00::1'));
  } finally {
    socket.close();
    monitor.close();
    namespace.close();
  }
});

test('KERNEL-11 reports an overrun if events arrive faster than they are read', async () => {
  const namespace = NetworkNamespace.create();
  let overruns = 0;
  const handlers = {
    event: () => {},
    overrun: () => void overruns++,
    failed: (error: Error) => assert.fail(error),
  };
  const monitor = RouteMonitor.open(handlers, { namespace, receiveBuffer: 4096 });
  const socket = RouteSocket.open({ namespace });
  try {
    const bridge = socket.addLink({ kind: 'bridge', name: 'br0' });
    for (let i = 0; i < 200; i++) socket.addAddress(bridge, { ip: ip(`10.0.0.${i}`), prefix: 32 });
    await waitUntil(() => overruns > 0);
  } finally {
    socket.close();
    monitor.close();
    namespace.close();
  }
});
