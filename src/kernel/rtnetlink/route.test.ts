import assert from 'node:assert/strict';
import { test } from 'node:test';
import { captured, comparable, message, RecordingTransport } from '../../../test/support/netlink.ts';
import { parseCidr, parseIp } from '../../net/index.ts';
import { NetlinkSocket } from '../netlink/index.ts';
import {
  decodeRoute,
  encodeLookUpRoute,
  encodeRoute,
  type NewRoute,
  printLookUpRoute,
  printRoute,
  RouteMessage,
  RouteTable,
} from './route.ts';
import { RouteSocket } from './socket.ts';

const cidr = (text: string) => parseCidr(text) ?? assert.fail(text);
const ip = (text: string) => parseIp(text) ?? assert.fail(text);
const veth0 = { index: 3, name: 'veth0' };
const lo = { index: 1, name: 'lo' };

const CASES: readonly { line: string; verb: 'add' | 'replace' | 'del'; route: NewRoute; hex: string }[] = [
  {
    line: 'ip route add default via 10.0.0.2',
    verb: 'add',
    route: { destination: cidr('0.0.0.0/0'), via: ip('10.0.0.2') },
    hex: '24000000180005068f6ff96a0000000002000000fe03000100000000 080005000a000002',
  },
  {
    line: 'ip route replace default via 10.0.0.2 dev veth0',
    verb: 'replace',
    route: { destination: cidr('0.0.0.0/0'), via: ip('10.0.0.2'), dev: veth0 },
    hex: '2c000000180005058f6ff96a0000000002000000fe03000100000000 080005000a000002 0800040003000000',
  },
  {
    line: 'ip route add 10.244.0.0/16 dev veth0',
    verb: 'add',
    route: { destination: cidr('10.244.0.0/16'), dev: veth0 },
    hex: '2c000000180005068f6ff96a0000000002100000fe03fd0100000000 080001000af40000 0800040003000000',
  },
  {
    line: 'ip route add 10.1.0.0/16 via 10.0.0.2 src 10.0.0.1 metric 5',
    verb: 'add',
    route: { destination: cidr('10.1.0.0/16'), via: ip('10.0.0.2'), src: ip('10.0.0.1'), metric: 5 },
    hex: `3c000000180005065470f96a0000000002100000fe03000100000000
      080001000a010000 080005000a000002 080007000a000001 0800060005000000`,
  },
  {
    line: 'ip route add 10.9.0.0/16 dev veth0 table 1000',
    verb: 'add',
    route: { destination: cidr('10.9.0.0/16'), dev: veth0, table: 1000 },
    hex: '34000000180005065570f96a00000000021000000003fd0100000000 080001000a090000 08000f00e8030000 0800040003000000',
  },
  {
    line: 'ip route add blackhole 10.246.0.0/16',
    verb: 'add',
    route: { destination: cidr('10.246.0.0/16'), type: 'blackhole' },
    hex: '2400000018000506906ff96a0000000002100000fe03000600000000 080001000af60000',
  },
  {
    line: 'ip route add local 10.247.0.0/16 dev lo',
    verb: 'add',
    route: { destination: cidr('10.247.0.0/16'), type: 'local', dev: lo },
    hex: '2c00000018000506906ff96a0000000002100000ff03fe0200000000 080001000af70000 0800040001000000',
  },
  {
    line: 'ip -6 route add fd01::/64 via fd00::9',
    verb: 'add',
    route: { destination: cidr('fd01::/64'), via: ip('fd00::9') },
    hex: `4400000018000506906ff96a000000000a400000fe03000100000000
      14000100fd010000000000000000000000000000 14000500fd000000000000000000000000000009`,
  },
  {
    line: 'ip -6 route add default via fd00::9',
    verb: 'add',
    route: { destination: cidr('::/0'), via: ip('fd00::9') },
    hex: '30000000180005065470f96a000000000a000000fe03000100000000 14000500fd000000000000000000000000000009',
  },
  {
    line: 'ip -6 route add fd05::/64 dev veth0',
    verb: 'add',
    route: { destination: cidr('fd05::/64'), dev: veth0 },
    hex: `38000000180005065470f96a000000000a400000fe03000100000000
      14000100fd050000000000000000000000000000 0800040003000000`,
  },
  {
    line: 'ip route del 10.245.0.0/16',
    verb: 'del',
    route: { destination: cidr('10.245.0.0/16') },
    hex: '2400000019000500906ff96a0000000002100000fe00ff0000000000 080001000af50000',
  },
  {
    line: 'ip route del 10.244.0.0/16 dev veth0',
    verb: 'del',
    route: { destination: cidr('10.244.0.0/16'), dev: veth0 },
    hex: '2c00000019000500906ff96a0000000002100000fe00ff0000000000 080001000af40000 0800040003000000',
  },
  {
    line: 'ip -6 route del blackhole fd07::/64',
    verb: 'del',
    route: { destination: cidr('fd07::/64'), type: 'blackhole' },
    hex: '30000000190005005570f96a000000000a400000fe00000600000000 14000100fd070000000000000000000000000000',
  },
];

for (const { line, verb, route, hex } of CASES) {
  test(`KERNEL-1 KERNEL-4 sends the bytes of \`${line}\` and prints that line`, () => {
    const transport = new RecordingTransport();
    const socket = new RouteSocket(new NetlinkSocket(transport));
    if (verb === 'add') socket.addRoute(route);
    else if (verb === 'replace') socket.replaceRoute(route);
    else socket.deleteRoute(route);
    assert.deepEqual(
      transport.sent.map(bytes => comparable(bytes, 12)),
      [captured(hex)],
    );
    assert.equal(printRoute(verb, route), line);
  });
}

test('KERNEL-1 listing a table of a family sends the bytes of `ip route show`', () => {
  const transport = new RecordingTransport();
  const socket = new RouteSocket(new NetlinkSocket(transport));
  socket.routes({ family: 'IPv4', table: RouteTable.MAIN });
  socket.routes({ family: 'IPv6', table: RouteTable.MAIN });
  assert.deepEqual(
    transport.sent.map(bytes => comparable(bytes, 12)),
    [
      captured('240000001a000103906ff96a0000000002000000000000000000000008000f00fe000000'),
      captured('240000001a000103906ff96a000000000a000000000000000000000008000f00fe000000'),
    ],
  );
});

test('KERNEL-1 KERNEL-4 the lookup of a route has the bytes of `ip route get` and prints that line', () => {
  const REQUEST = 1;
  const bytes = (text: string) =>
    comparable(
      message(RouteMessage.GET, REQUEST, writer => encodeLookUpRoute(writer, ip(text))),
      12,
    );
  assert.equal(
    bytes('10.1.2.3'),
    captured('240000001a000100b494fa6a00000000 02200000000000000010000008000100 0a010203'),
  );
  const v6 = '300000001a000100b494fa6a00000000 0a800000000000000000000014000100 fd000000000000000000000000000005';
  assert.equal(bytes('fd00::5'), captured(v6));
  assert.equal(printLookUpRoute(ip('10.1.2.3')), 'ip -4 route get 10.1.2.3');
});

test('KERNEL-1 every route survives encoding and decoding', () => {
  for (const { route, verb } of CASES.filter(({ verb }) => verb !== 'del')) {
    const bytes = message(RouteMessage.NEW, 0, writer => encodeRoute(writer, verb, route));
    const { type, destination, via, dev, src, metric, table } = decodeRoute(bytes.subarray(16)) ?? {};
    assert.deepEqual({ type, destination }, { type: route.type ?? 'unicast', destination: route.destination });
    assert.deepEqual({ via, dev }, { via: route.via, dev: route.dev?.index });
    assert.deepEqual({ src, metric }, { src: route.src, metric: route.metric });
    assert.equal(table, route.table ?? (route.type === 'local' ? RouteTable.LOCAL : RouteTable.MAIN));
  }
});
