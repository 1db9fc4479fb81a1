import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findIn, lines, onNode } from '../../../test/support/machine.ts';
import { withRoutes } from '../../../test/support/namespaces.ts';
import { writeSysctl } from '../../kernel/sysctl.ts';
import { parseCidr } from '../../net/index.ts';

const cidr = (text: string) => parseCidr(text) ?? assert.fail(text);
const V6 = {
  packet: { source: 'fd00:10:244::5', destination: 'fd00:10:96::a', port: 80 },
  endpoint: { ip: 'fd00:10:244::9', port: 8080 },
};

test('MACHINE-25 a node that does not forward is found, unless the packet is not forwarded', () =>
  onNode(async node => {
    writeSysctl('net/ipv4/ip_forward', 0, node);
    writeSysctl('net/ipv6/conf/all/forwarding', 0, node);
    assert.deepEqual(await findIn(node, {}), {
      findings: [
        {
          kind: 'sysctl',
          name: 'net.ipv4.ip_forward',
          value: '0',
          text: 'net.ipv4.ip_forward = 0',
          certainty: 'drops',
          unknown: [],
        },
      ],
      unread: [],
      incomplete: undefined,
    });
    assert.deepEqual(lines(await findIn(node, V6)), ['sysctl drops: net.ipv6.conf.all.forwarding = 0']);
    assert.deepEqual(lines(await findIn(node, { endpoint: { ip: '192.168.0.2', port: 80 } })), []);
    assert.deepEqual(lines(await findIn(node, { isFromNode: true })), []);
  }));

test('MACHINE-26 a missing route and a route that drops are found', () =>
  onNode(async node => {
    withRoutes(node, route => {
      route.addRoute({ destination: cidr('10.244.1.0/24'), type: 'blackhole' });
      route.addRoute({ destination: cidr('10.244.2.0/24'), type: 'unreachable' });
      route.addRoute({ destination: cidr('10.244.3.0/24'), type: 'prohibit' });
      route.addRoute({ destination: cidr('fd00:10:244::/64'), type: 'blackhole' });
    });
    const to = async (ip: string) => lines(await findIn(node, { endpoint: { ip, port: 8080 } }));
    assert.deepEqual(await to('10.244.1.9'), ['route drops: blackhole to 10.244.1.9']);
    assert.deepEqual(await to('10.244.2.9'), ['route drops: unreachable to 10.244.2.9']);
    assert.deepEqual(await to('10.244.3.9'), ['route drops: prohibit to 10.244.3.9']);
    assert.deepEqual(await to('10.244.4.9'), []);
    assert.deepEqual(lines(await findIn(node, V6)), ['route drops: blackhole to fd00:10:244::9']);
    withRoutes(node, route => {
      route.deleteRoute({ destination: cidr('0.0.0.0/0') });
      route.deleteRoute({ destination: cidr('::/0') });
    });
    assert.deepEqual(await to('10.244.4.9'), ['route drops: no route to 10.244.4.9']);
    const own = await findIn(node, { isFromNode: true, endpoint: { ip: '192.168.0.9', port: 8080 } });
    assert.deepEqual(lines(own), ['route drops: no route to 10.96.0.10']);
  }));

test('MACHINE-27 strict reverse path filtering counts only on a node with two ways to the outside', () =>
  onNode(async node => {
    writeSysctl('net/ipv4/conf/all/rp_filter', 1, node);
    assert.deepEqual(lines(await findIn(node, {})), []);
    withRoutes(node, route => {
      const eth1 = route.addLink({ kind: 'veth', name: 'eth1.5', peer: { name: 'eth1-peer' } });
      const peer = route.link('eth1-peer');
      if (peer) route.setLink(peer, { up: true });
      route.setLink(eth1, { up: true });
      route.addRoute({ destination: cidr('0.0.0.0/0'), dev: eth1, metric: 100 });
    });
    writeSysctl('net/ipv4/conf/eth1.5/rp_filter', 0, node);
    const expected = (name: string) => [`sysctl may drop (input interface): ${name} = 1`];
    assert.deepEqual(lines(await findIn(node, {})), expected('net.ipv4.conf.all.rp_filter'));
    writeSysctl('net/ipv4/conf/all/rp_filter', 0, node);
    assert.deepEqual(lines(await findIn(node, {})), []);
    writeSysctl('net/ipv4/conf/eth1.5/rp_filter', 1, node);
    assert.deepEqual(lines(await findIn(node, {})), expected('net.ipv4.conf.eth1/5.rp_filter'));
    writeSysctl('net/ipv4/conf/eth1.5/rp_filter', 2, node);
    assert.deepEqual(lines(await findIn(node, {})), []);
  }));
