import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service, slice } from '../../../../test/support/objects.ts';
import { runIn } from '../../../../test/support/run-in.ts';
import { type UserspaceHarness, withUserspace } from '../../../../test/support/userspace-mode.ts';
import type { NetworkNamespace } from '../../../kernel/netns.ts';
import { listenTcp } from '../../../kernel/sockets/index.ts';
import type { Ip } from '../../../net/index.ts';
import { setAsideName } from '../../set-aside.ts';

const PODS = ['10.244.1.1'];

/** On a machine that also has the addresses 192.168.0.3 and 192.168.0.4. */
function withAddresses(work: (harness: UserspaceHarness, namespace: NetworkNamespace) => Promise<void>): Promise<void> {
  return withUserspace(async (harness, namespace) => {
    for (const n of [3, 4]) runIn(namespace, 'ip', ['addr', 'add', `192.168.0.${n}/24`, 'dev', 'eth0']);
    await work(harness, namespace);
  });
}

function addExternalIP(
  harness: UserspaceHarness,
  name: string,
  clusterIP: string,
  externalIP: string,
  port = 80,
): void {
  harness.set(service(name, { clusterIP, externalIPs: [externalIP], ports: [{ port }] }), slice(`${name}-1`, PODS));
}

function addNodePort(harness: UserspaceHarness, port: number): void {
  harness.set(
    service('all', { type: 'NodePort', clusterIP: '10.96.0.9', ports: [{ nodePort: port }] }),
    slice('all-1', PODS),
  );
}

/** Runs the work while another program listens. */
async function withOther(namespace: NetworkNamespace, ip: string, port: number, work: () => Promise<void>) {
  const server = await listenTcp(namespace, ip as Ip, port, connection => connection.end());
  try {
    await work();
  } finally {
    await new Promise(resolve => server.close(resolve));
  }
}

/** Fails unless another program can listen. */
function assertFree(namespace: NetworkNamespace, ip: string, port: number): Promise<void> {
  return withOther(namespace, ip, port, async () => {});
}

const assertReserved = (namespace: NetworkNamespace, ip: string, port: number) =>
  assert.rejects(assertFree(namespace, ip, port), /EADDRINUSE/);
const setAsideNames = (harness: UserspaceHarness) => harness.setAside().map(setAsideName);

test("USER-5 a Service at one address does not take another program's port at another address", () =>
  withAddresses(async (harness, namespace) => {
    await withOther(namespace, '192.168.0.4', 80, async () => {
      addExternalIP(harness, 'a', '10.96.0.1', '192.168.0.3');
      addExternalIP(harness, 'b', '10.96.0.2', '192.168.0.4');
      await harness.sync();
      await harness.lookForDrift();
      assert.deepEqual(setAsideNames(harness), ['default/b']);
      assert.ok(!harness.rules().some(rule => rule.includes('192.168.0.4/32')));
      await assertReserved(namespace, '192.168.0.3', 80);
    });
    await harness.lookForDrift();
    assert.deepEqual(setAsideNames(harness), []);
    await assertReserved(namespace, '192.168.0.4', 80);
  }));

test('USER-5 a node port that another program has at one address is left to it', () =>
  withAddresses(async (harness, namespace) => {
    await withOther(namespace, '192.168.0.4', 30080, async () => {
      addExternalIP(harness, 'a', '10.96.0.1', '192.168.0.3', 30080);
      await harness.sync();
      addNodePort(harness, 30080);
      await harness.sync();
      assert.deepEqual(setAsideNames(harness), ['default/all']);
      assert.match(harness.events.setAsides[0]?.cause.message ?? '', /EADDRINUSE.*another program has it/);
      await assertReserved(namespace, '192.168.0.3', 30080);
    });
    await harness.lookForDrift();
    assert.deepEqual(setAsideNames(harness), []);
    await assertReserved(namespace, '192.168.0.4', 30080);
  }));

test('USER-5 a port at all addresses and at one of them stays reserved until both Services are gone, in any order', async () => {
  for (const first of ['a', 'all'] as const) {
    await withAddresses(async (harness, namespace) => {
      for (const name of first === 'a' ? ['a', 'all'] : ['all', 'a']) {
        if (name === 'a') addExternalIP(harness, 'a', '10.96.0.1', '192.168.0.3', 30080);
        else addNodePort(harness, 30080);
        await harness.sync();
      }
      assert.deepEqual(setAsideNames(harness), []);
      await assertReserved(namespace, '192.168.0.4', 30080);
      harness.deleteService('default/all');
      await harness.sync();
      await assertReserved(namespace, '192.168.0.3', 30080);
      await assertFree(namespace, '192.168.0.4', 30080);
      harness.deleteService('default/a');
      await harness.sync();
      await assertFree(namespace, '192.168.0.3', 30080);
    });
  }
});
