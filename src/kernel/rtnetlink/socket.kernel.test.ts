import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { type Ip, parseCidr, parseIp } from '../../net/index.ts';
import { NetworkNamespace } from '../netns.ts';
import { AddressFlag } from './address.ts';
import { LinkFlag } from './link.ts';
import { RouteTable } from './route.ts';
import { RouteSocket } from './socket.ts';

const cidr = (text: string) => parseCidr(text) ?? assert.fail(text);
const address = (text: string): Ip => parseIp(text) ?? assert.fail(text);

/** Runs `ip` inside the namespace and returns the lines of its output. */
function ip(namespace: NetworkNamespace, ...args: string[]): string[] {
  const { stdout, stderr, status } = namespace.run(() => spawnSync('ip', args, { encoding: 'utf8' }));
  assert.equal(status, 0, stderr);
  return stdout.split('\n').flatMap(line => line.trim() || []);
}

function inNamespace(work: (socket: RouteSocket, namespace: NetworkNamespace) => void | Promise<void>) {
  return async () => {
    const namespace = NetworkNamespace.create();
    const socket = RouteSocket.open({ namespace });
    try {
      await work(socket, namespace);
    } finally {
      socket.close();
      namespace.close();
    }
  };
}

test(
  'KERNEL-11 adds, changes, lists and deletes links',
  inNamespace((socket, namespace) => {
    const veth = socket.addLink({ kind: 'veth', name: 'veth0', mtu: 1400, peer: { name: 'veth1' } });
    const bridge = socket.addLink({ kind: 'bridge', name: 'br0' });
    assert.deepEqual(
      socket.links().map(({ name, kind }) => [name, kind]),
      [
        ['lo', undefined],
        ['veth1', 'veth'],
        ['veth0', 'veth'],
        ['br0', 'bridge'],
      ],
    );
    assert.equal(veth.mtu, 1400);
    assert.equal(veth.link, socket.link('veth1')?.index);
    assert.deepEqual(ip(namespace, 'link', 'show', 'veth0')[1]?.split(' ')[1], veth.address);

    socket.setLink(veth, { up: true, master: bridge, mtu: 1300 });
    const changed = socket.link('veth0');
    assert.ok(changed);
    assert.equal(changed.flags & LinkFlag.UP, LinkFlag.UP);
    assert.deepEqual([changed.master, changed.mtu], [bridge.index, 1300]);
    socket.setLink(veth, { up: false, master: null });
    socket.setLink(veth, { name: 'pod0' });
    assert.match(ip(namespace, 'link', 'show', 'pod0')[0] ?? '', /pod0@veth1: <BROADCAST,MULTICAST.*> mtu 1300/);

    socket.deleteLink({ index: veth.index, name: 'pod0' });
    assert.deepEqual(
      socket.links().map(({ name }) => name),
      ['lo', 'br0'],
    );
  }),
);

test(
  'KERNEL-11 adds a peer in another namespace, and moves a link there under a new name',
  inNamespace((socket, namespace) => {
    const other = NetworkNamespace.create();
    const there = RouteSocket.open({ namespace: other });
    try {
      socket.addLink({ kind: 'veth', name: 'veth0', peer: { name: 'eth0', namespace: other } });
      const mover = socket.addLink({ kind: 'veth', name: 'veth2', peer: { name: 'veth3' } });
      socket.setLink(mover, { namespace: { path: other.path }, name: 'eth1' });
      const names = (links: RouteSocket) => links.links().map(({ name }) => name);
      assert.deepEqual(names(there).sort(), ['eth0', 'eth1', 'lo']);
      assert.deepEqual(names(socket).sort(), ['lo', 'veth0', 'veth3']);
      assert.equal(ip(namespace, '-o', 'link').length, 3);
      const missing = { path: '/proc/self/ns/nonesuch' };
      assert.throws(() => socket.setLink({ index: 2, name: 'veth0' }, { namespace: missing }), { errno: 'ENOENT' });
    } finally {
      there.close();
      other.close();
    }
  }),
);

test(
  'KERNEL-11 link returns undefined for a missing link, and addLink refuses an existing name',
  inNamespace((socket, namespace) => {
    assert.equal(socket.link('nonesuch'), undefined);
    assert.equal(socket.link('an-alternative-name'), undefined);
    socket.addLink({ kind: 'bridge', name: 'br0' });
    ip(namespace, 'link', 'property', 'add', 'dev', 'br0', 'altname', 'an-alternative-name');
    assert.equal(socket.link('an-alternative-name')?.name, 'br0');
    assert.throws(() => socket.addLink({ kind: 'bridge', name: 'br0' }), {
      code: 'KERNEL_REFUSED',
      errno: 'EEXIST',
      operation: 'ip link add br0 type bridge',
    });
  }),
);

test(
  'KERNEL-11 adds, replaces, lists and deletes addresses of both families',
  inNamespace((socket, namespace) => {
    const bridge = socket.addLink({ kind: 'bridge', name: 'br0' });
    const other = socket.addLink({ kind: 'bridge', name: 'br1' });
    const v4 = { ip: address('10.0.0.1'), prefix: 24 };
    const v6 = { ip: address('fd00::1'), prefix: 64, nodad: true };
    socket.addAddress(bridge, v4);
    socket.replaceAddress(bridge, v4);
    socket.addAddress(bridge, v6);
    socket.addAddress(other, { ip: address('10.0.1.1'), prefix: 32 });

    const listed = (found: readonly { ip: Ip; prefix: number }[]) => found.map(({ ip, prefix }) => `${ip}/${prefix}`);
    assert.deepEqual(listed(socket.addresses()), ['10.0.0.1/24', '10.0.1.1/32', 'fd00::1/64']);
    assert.deepEqual(listed(socket.addresses({ family: 'IPv6' })), ['fd00::1/64']);
    assert.deepEqual(listed(socket.addresses({ link: other })), ['10.0.1.1/32']);
    const [first, second] = socket.addresses({ link: bridge });
    assert.equal(first?.label, 'br0');
    assert.equal((second?.flags ?? 0) & AddressFlag.NODAD, AddressFlag.NODAD);
    const reference = ip(namespace, '-o', 'addr', 'show', 'dev', 'br0').map(line => line.split(/\s+/)[3]);
    assert.deepEqual(reference, listed(socket.addresses({ link: bridge })));

    socket.deleteAddress(bridge, v4);
    socket.deleteAddress(bridge, v6);
    assert.deepEqual(socket.addresses({ link: bridge }), []);
    assert.throws(() => socket.deleteAddress(bridge, v4), {
      errno: 'EADDRNOTAVAIL',
      operation: 'ip addr del 10.0.0.1/24 dev br0',
    });
  }),
);

test(
  'KERNEL-11 adds and deletes many addresses at once and returns the refused ones',
  inNamespace(async (socket, namespace) => {
    const bridge = socket.addLink({ kind: 'bridge', name: 'br0' });
    const many = Array.from({ length: 1500 }, (_, i) => ({ ip: address(`10.96.${i >> 8}.${i & 255}`), prefix: 32 }));
    const v6 = { ip: address('fd00::1'), prefix: 128 };
    const [there = v6] = many;
    socket.addAddress(bridge, there);
    const refused = await socket.addAddresses(bridge, [...many, v6]);
    assert.deepEqual(
      refused.map(({ item, error }) => [item.ip, error.errno, error.operation]),
      [[there.ip, 'EEXIST', `ip addr add ${there.ip}/32 dev br0`]],
    );
    assert.equal(ip(namespace, '-o', 'addr', 'show', 'dev', 'br0').length, many.length + 1);

    const missing = { ip: address('10.97.0.1'), prefix: 32 };
    const notDeleted = await socket.deleteAddresses(bridge, [missing, v6, ...many]);
    assert.deepEqual(
      notDeleted.map(({ item, error }) => [item, error.errno]),
      [[missing, 'EADDRNOTAVAIL']],
    );
    assert.deepEqual(socket.addresses({ link: bridge }), []);
  }),
);

test(
  'KERNEL-11 adds, replaces, lists and deletes routes of both families',
  inNamespace((socket, namespace) => {
    assert.deepEqual(socket.routes({ family: 'IPv4', table: RouteTable.MAIN }), []);
    const lo = socket.link('lo') ?? assert.fail('no lo');
    const dev = socket.addLink({ kind: 'veth', name: 'veth0', peer: { name: 'veth1' } });
    for (const link of [lo, dev, { index: dev.link ?? 0, name: 'veth1' }]) socket.setLink(link, { up: true });
    socket.addAddress(dev, { ip: address('10.0.0.1'), prefix: 24 });
    socket.addAddress(dev, { ip: address('fd00::1'), prefix: 64, nodad: true });
    socket.addRoute({ destination: cidr('0.0.0.0/0'), via: address('10.0.0.2') });
    socket.replaceRoute({ destination: cidr('0.0.0.0/0'), via: address('10.0.0.3'), dev });
    socket.addRoute({ destination: cidr('10.244.0.0/16'), dev, src: address('10.0.0.1'), metric: 5 });
    socket.addRoute({ destination: cidr('10.246.0.0/16'), type: 'blackhole' });
    socket.addRoute({ destination: cidr('10.247.0.0/16'), type: 'local', dev: lo });
    socket.addRoute({ destination: cidr('10.9.0.0/16'), dev, table: 1000 });
    socket.addRoute({ destination: cidr('fd01::/64'), via: address('fd00::9') });
    socket.addRoute({ destination: cidr('::/0'), via: address('fd00::9'), dev });

    assert.deepEqual(ip(namespace, 'route'), [
      'default via 10.0.0.3 dev veth0',
      '10.0.0.0/24 dev veth0 proto kernel scope link src 10.0.0.1',
      '10.244.0.0/16 dev veth0 scope link src 10.0.0.1 metric 5',
      'blackhole 10.246.0.0/16',
    ]);
    const main = socket.routes({ family: 'IPv4', table: RouteTable.MAIN });
    assert.deepEqual(
      main.map(({ type, destination, via }) => [type, destination.address, destination.prefix, via]),
      [
        ['unicast', '0.0.0.0', 0, '10.0.0.3'],
        ['unicast', '10.0.0.0', 24, undefined],
        ['unicast', '10.244.0.0', 16, undefined],
        ['blackhole', '10.246.0.0', 16, undefined],
      ],
    );
    assert.deepEqual([main[2]?.src, main[2]?.metric, main[2]?.dev], ['10.0.0.1', 5, dev.index]);
    const local = socket.routes({ family: 'IPv4', table: RouteTable.LOCAL });
    assert.ok(local.some(({ type, destination }) => type === 'local' && destination.address === '10.247.0.0'));
    assert.equal(socket.routes({ family: 'IPv4', table: 1000 }).length, 1);
    const v6 = socket.routes({ family: 'IPv6', table: RouteTable.MAIN });
    assert.deepEqual(
      v6.filter(({ via }) => via).map(({ destination }) => `${destination.address}/${destination.prefix}`),
      ['fd01::/64', '::/0'],
    );

    socket.deleteRoute({ destination: cidr('0.0.0.0/0') });
    socket.deleteRoute({ destination: cidr('10.246.0.0/16'), type: 'blackhole' });
    socket.deleteRoute({ destination: cidr('10.247.0.0/16'), type: 'local' });
    socket.deleteRoute({ destination: cidr('fd01::/64'), via: address('fd00::9') });
    assert.equal(ip(namespace, 'route').length, 2);
    assert.throws(() => socket.deleteRoute({ destination: cidr('0.0.0.0/0') }), {
      errno: 'ESRCH',
      operation: 'ip route del default',
    });
  }),
);
