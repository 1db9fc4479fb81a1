import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testControlGroup } from '../../../../test/support/bpf-lab.ts';
import { ModeHarness } from '../../../../test/support/mode-harness.ts';
import { service, slice } from '../../../../test/support/objects.ts';
import { TestNetwork, TestSocket } from '../../../../test/support/test-socket.ts';
import { namespaceCookie } from '../../../kernel/netns.ts';
import { type Ip, joinHostPort } from '../../../net/index.ts';
import { EbpfMode } from '../mode.ts';

const [A, B] = ['10.244.1.2' as Ip, '10.244.1.3' as Ip];
const SERVICE = '10.96.0.10' as Ip;

test('SOCKETS-1 the mode lists its sockets, also those of endpoints and Services that are gone', async () => {
  const network = new TestNetwork([A, B], 8080);
  const harness = new ModeHarness(
    events =>
      new EbpfMode({
        events,
        namespace: network.namespace,
        families: ['IPv4'],
        sockets: 'all',
        cgroupRoot: testControlGroup(),
        bpffs: '/nowhere',
        listedNamespaces: [namespaceCookie(network.namespace)],
      }),
    { families: ['IPv4'] },
  );
  const { mode } = harness;
  const endpoints = async () => {
    const { sockets, incomplete } = await mode.sockets();
    assert.equal(incomplete, undefined);
    assert.ok([...sockets].every(({ isOfNode }) => isOfNode));
    return Array.from(sockets, ({ endpoint }) => joinHostPort(endpoint.ip, endpoint.port)).sort();
  };
  const socket = new TestSocket(network.namespace, 'IPv4');
  const other = new TestSocket(network.namespace, 'IPv4');
  try {
    assert.match((await mode.sockets()).incomplete ?? '', /^the network serves all connections: /);
    harness.set(service('web', { clusterIP: SERVICE }), slice('web-1', [A]));
    await harness.sync();
    assert.equal(socket.connect(SERVICE, 80), 'connected');
    assert.deepEqual(await endpoints(), [`${A}:8080`]);
    harness.set(slice('web-1', [B]));
    await harness.sync();
    assert.equal(other.connect(SERVICE, 80), 'connected');
    assert.deepEqual(await endpoints(), [`${A}:8080`, `${B}:8080`]);
    harness.deleteService('default/web');
    await harness.sync();
    assert.deepEqual(await endpoints(), [`${A}:8080`, `${B}:8080`]);
  } finally {
    socket.close();
    other.close();
    await harness.close();
    network.close();
  }
});
