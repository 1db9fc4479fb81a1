import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service, slice } from '../../../../test/support/objects.ts';
import { runIn, type UserspaceUnderTest, withUserspace } from '../../../../test/support/userspace-mode.ts';
import type { NetworkNamespace } from '../../../kernel/netns.ts';
import { listenTcp } from '../../../kernel/sockets/index.ts';
import type { Ip } from '../../../net/index.ts';

const PODS = ['10.244.1.1'];

/** With 192.168.0.3 and 192.168.0.4 as addresses of this machine. */
function withAddresses(work: (under: UserspaceUnderTest, namespace: NetworkNamespace) => Promise<void>): Promise<void> {
  return withUserspace(async (under, namespace) => {
    for (const n of [3, 4]) runIn(namespace, 'ip', ['addr', 'add', `192.168.0.${n}/24`, 'dev', 'eth0']);
    await work(under, namespace);
  });
}

function at(under: UserspaceUnderTest, name: string, clusterIP: string, externalIP: string, port = 80): void {
  under.set(service(name, { clusterIP, externalIPs: [externalIP], ports: [{ port }] }), slice(`${name}-1`, PODS));
}

function nodePort(under: UserspaceUnderTest, port: number): void {
  under.set(
    service('all', { type: 'NodePort', clusterIP: '10.96.0.9', ports: [{ nodePort: port }] }),
    slice('all-1', PODS),
  );
}

/** Another program listens there meanwhile. */
async function withOther(namespace: NetworkNamespace, ip: string, port: number, work: () => Promise<void>) {
  const server = await listenTcp(namespace, ip as Ip, port, connection => connection.end());
  try {
    await work();
  } finally {
    await new Promise(resolve => server.close(resolve));
  }
}

async function isFree(namespace: NetworkNamespace, ip: string, port: number): Promise<void> {
  await withOther(namespace, ip, port, async () => {});
}

const isClaimed = (namespace: NetworkNamespace, ip: string, port: number) =>
  assert.rejects(isFree(namespace, ip, port), /EADDRINUSE/);
const aside = (under: UserspaceUnderTest) => under.mode.setAside().map(({ servicePort }) => servicePort);

test("USER-5 a Service at one address is no reason to take another program's port at another address", () =>
  withAddresses(async (under, namespace) => {
    await withOther(namespace, '192.168.0.4', 80, async () => {
      at(under, 'a', '10.96.0.1', '192.168.0.3');
      at(under, 'b', '10.96.0.2', '192.168.0.4');
      await under.sync();
      await under.mode.settle();
      assert.deepEqual(aside(under), ['default/b']);
      assert.ok(!under.rules().some(rule => rule.includes('192.168.0.4/32')));
      await isClaimed(namespace, '192.168.0.3', 80);
    });
    await under.mode.settle();
    assert.deepEqual(aside(under), []);
    await isClaimed(namespace, '192.168.0.4', 80);
  }));

test("USER-5 nor is a Service at one address a reason to take another program's node port", () =>
  withAddresses(async (under, namespace) => {
    await withOther(namespace, '192.168.0.4', 30080, async () => {
      at(under, 'a', '10.96.0.1', '192.168.0.3', 30080);
      await under.sync();
      nodePort(under, 30080);
      await under.sync();
      assert.deepEqual(aside(under), ['default/all']);
      assert.match(under.refused[0]?.error ?? '', /EADDRINUSE.*another program has it/);
      await isClaimed(namespace, '192.168.0.3', 30080);
    });
    await under.mode.settle();
    assert.deepEqual(aside(under), []);
    await isClaimed(namespace, '192.168.0.4', 30080);
  }));

test('USER-5 a port at all addresses and at one of them is kept until both Services are gone, in any order', async () => {
  for (const first of ['a', 'all'] as const) {
    await withAddresses(async (under, namespace) => {
      for (const name of first === 'a' ? ['a', 'all'] : ['all', 'a']) {
        if (name === 'a') at(under, 'a', '10.96.0.1', '192.168.0.3', 30080);
        else nodePort(under, 30080);
        await under.sync();
      }
      assert.deepEqual(aside(under), []);
      await isClaimed(namespace, '192.168.0.4', 30080);
      under.deleteService('default/all');
      await under.sync();
      await isClaimed(namespace, '192.168.0.3', 30080);
      await isFree(namespace, '192.168.0.4', 30080);
      under.deleteService('default/a');
      await under.sync();
      await isFree(namespace, '192.168.0.3', 30080);
    });
  }
});
