import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { NetworkNamespace } from '../../../kernel/netns.ts';
import { EventPoll } from '../../../kernel/sockets/index.ts';
import { systemClock } from '../../../lib/clock.ts';
import type { Ip } from '../../../net/index.ts';
import { Balancer } from './balancer.ts';
import { newCounters } from '../counters/service-counters.ts';
import { PortAllocator } from './port-allocator.ts';
import { type ListenerOptions, TcpListener } from './tcp-listener.ts';
import { Traffic } from './relay-resources.ts';
import { UdpListener } from './udp-listener.ts';

const PORTS = { first: 40100, last: 40129 };

for (const Listener of [TcpListener, UdpListener]) {
  test(`USER-4 a ${Listener.name} that cannot be watched leaves nothing open, and no other port is tried`, () => {
    const namespace = NetworkNamespace.create();
    const poll = new EventPoll(() => {});
    const traffic = new Traffic({
      namespace,
      poll,
      clock: systemClock,
      stream: { keepAliveSeconds: 15 },
      udpIdleTimeoutMs: 250,
      maxDescriptors: 100,
      maxUdpClients: 10,
      trouble: () => {},
    });
    const balancer = new Balancer({ clock: systemClock });
    const options: ListenerOptions = {
      traffic,
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
      assert.equal(traffic.descriptors, 0);
      assert.equal(readdirSync('/proc/self/fd').length, before);
    } finally {
      traffic.close();
      poll.close();
      namespace.close();
    }
  });
}
