import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { NetworkNamespace } from '../../../kernel/netns.ts';
import { EventPoll } from '../../../kernel/sockets/index.ts';
import { systemClock } from '../../../lib/clock.ts';
import type { Ip } from '../../../net/index.ts';
import { Balancer } from '../../relay/balancer.ts';
import { newCounters } from '../../relay/relay-counters.ts';
import { RelayResources } from '../../relay/relay-resources.ts';
import { type ListenerOptions, TcpListener } from '../../relay/tcp-listener.ts';
import { UdpListener } from '../../relay/udp-listener.ts';
import { PortAllocator } from './port-allocator.ts';

const PORTS = { first: 40100, last: 40129 };

for (const Listener of [TcpListener, UdpListener]) {
  test(`USER-4 a ${Listener.name} that the poll cannot watch leaves nothing open and tries no other port`, () => {
    const namespace = NetworkNamespace.create();
    const poll = new EventPoll(() => {});
    const resources = new RelayResources({
      namespace,
      poll,
      clock: systemClock,
      reporter: { report: () => {} },
      stream: { keepAliveSeconds: 15 },
      udpIdleTimeoutMs: 250,
      maxDescriptors: 100,
      maxUdpClients: 10,
    });
    const balancer = new Balancer({ clock: systemClock });
    const options: ListenerOptions = {
      resources,
      family: 'IPv4',
      ip: '0.0.0.0' as Ip,
      policy: 'Cluster',
      balancer,
      counters: newCounters(),
      name: 'default/web',
    };
    try {
      let tried = 0;
      poll.add = () => {
        throw new Error('no room');
      };
      const before = readdirSync('/proc/self/fd').length;
      const open = (port: number) => {
        tried += 1;
        return new Listener(options, port);
      };
      assert.throws(() => new PortAllocator(PORTS).open(open), /no room/);
      assert.equal(tried, 1);
      assert.equal(resources.descriptors, 0);
      assert.equal(readdirSync('/proc/self/fd').length, before);
    } finally {
      resources.close();
      poll.close();
      namespace.close();
    }
  });
}
