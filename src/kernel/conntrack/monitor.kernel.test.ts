import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { createLoopbackNode, NODE_IP } from '../../../test/support/namespaces.ts';
import { nft } from '../../../test/support/nftables-mode.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { connectTcp, listenTcp } from '../sockets/index.ts';
import { ConntrackMonitor, type FlowEvent } from './monitor.ts';
import { Status } from './status.ts';

test('KERNEL-1 the kernel reports connections that were accepted and refused', async () => {
  const namespace = createLoopbackNode();
  // The kernel tracks connections only if a rule asks for it.
  nft(namespace, 'add', 'table', 'inet', 't');
  nft(namespace, 'add chain inet t c { type filter hook output priority 0; }');
  nft(namespace, 'add rule inet t c ct state new accept');
  const events: FlowEvent[] = [];
  const failed = (error: Error) => assert.fail(error);
  const handlers = { event: (event: FlowEvent) => events.push(event), overrun: () => {}, failed };
  const monitor = ConntrackMonitor.open(handlers, { namespace });
  const server = await listenTcp(namespace, NODE_IP, 8080, connection => connection.end());
  try {
    const socket = await connectTcp(namespace, NODE_IP, 8080);
    await once(socket.resume(), 'close');
    await assert.rejects(connectTcp(namespace, NODE_IP, 8081), { errno: 'ECONNREFUSED' });
    const seen = (port: number) => events.filter(({ flow }) => flow.original.dstPort === port);
    await waitFor('the end of the refused connection', () => seen(8081).length === 2);
    const [opened, ended] = seen(8081);
    assert.deepEqual([opened?.type, opened?.flow.state, ended?.type], ['new', 'SYN_SENT', 'destroyed']);
    assert.equal((ended?.flow.status ?? 0) & Status.SEEN_REPLY, 0);
    assert.equal(opened?.flow.id, ended?.flow.id);
    const [first, second, third] = seen(8080);
    assert.deepEqual([first?.type, second?.type, second?.flow.state], ['new', 'updated', 'SYN_RECV']);
    assert.deepEqual([third?.type, third?.flow.state], ['updated', 'ESTABLISHED']);
    assert.ok((second?.flow.status ?? 0) & Status.SEEN_REPLY);
  } finally {
    monitor.close();
    server.close();
    namespace.close();
  }
});
