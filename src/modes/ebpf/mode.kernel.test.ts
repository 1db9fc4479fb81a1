import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testControlGroup } from '../../../test/support/bpf-lab.ts';
import { ModeHarness } from '../../../test/support/mode-harness.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { TestNetwork } from '../../../test/support/test-socket.ts';
import { namespaceCookie } from '../../kernel/netns.ts';
import type { Ip } from '../../net/index.ts';
import { EbpfMode, type EbpfOptions } from './mode.ts';

function harness(network: TestNetwork, options: Partial<EbpfOptions> = {}): ModeHarness<EbpfMode> {
  return new ModeHarness(
    events =>
      new EbpfMode({
        events,
        namespace: network.namespace,
        families: ['IPv4', 'IPv6'],
        sockets: 'all',
        cgroupRoot: testControlGroup(),
        bpffs: '/nowhere',
        listedNamespaces: [namespaceCookie(network.namespace)],
        ...options,
      }),
    { families: ['IPv4', 'IPv6'] },
  );
}

test('EBPF-7 the mode serves', async () => {
  const network = new TestNetwork(['10.244.1.2', '10.244.1.3', 'fd00:10:244::2'] as Ip[], 8080);
  const mode = harness(network);
  mode.set(service('web', { clusterIP: '10.96.0.10' }), slice('web-1', ['10.244.1.2']));
  mode.set(service('six', { clusterIP: 'fd00:10:96::1' }), slice('six-1', ['fd00:10:244::2']));
  mode.set(service('none', { clusterIP: '10.96.0.11' }));
  await mode.sync();
  assert.equal(network.ask('10.96.0.10' as Ip, 80), '10.244.1.2:8080');
  assert.equal(network.ask('fd00:10:96::1' as Ip, 80), '[fd00:10:244::2]:8080');
  assert.equal(network.ask('10.96.0.11' as Ip, 80), 'ECONNREFUSED');
  mode.set(slice('web-1', ['10.244.1.3']));
  await mode.sync();
  assert.equal(network.ask('10.96.0.10' as Ip, 80), '10.244.1.3:8080');
  await mode.close();
  assert.notEqual(network.ask('10.96.0.10' as Ip, 80), '10.244.1.3:8080');
  network.close();
});
