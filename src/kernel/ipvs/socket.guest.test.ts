import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Ip, parseIp } from '../../net/index.ts';
import { NetworkNamespace } from '../netns.ts';
import { RouteSocket } from '../rtnetlink/index.ts';
import { ensureSysctl, readSysctl } from '../sysctl.ts';
import type { IpvsChange } from './change.ts';
import { printDestination } from './destination.ts';
import { printInfo } from './info.ts';
import { printService, type Service, ServiceFlag } from './service.ts';
import type { IpvsProtocol, ServiceKey } from './service-key.ts';
import { IpvsSocket } from './socket.ts';

const ip = (text: string): Ip => parseIp(text) ?? assert.fail(text);

function key(address: string, port: number, protocol: IpvsProtocol = 'TCP'): ServiceKey {
  return { kind: 'address', protocol, address: ip(address), port };
}

const web = key('10.96.0.1', 80);
const web6 = key('fd00::1', 80);

function ipvsadm(namespace: NetworkNamespace, ...args: string[]): string[] {
  const { stdout, stderr, status } = namespace.run(() => spawnSync('ipvsadm', args, { encoding: 'utf8' }));
  assert.equal(status, 0, stderr);
  return stdout.split('\n').flatMap(line => line.trim() || []);
}

/** Sets lo up in the namespace: without local routes the kernel does not accept any IPv4 destination as unicast. */
function inNamespace(work: (socket: IpvsSocket, namespace: NetworkNamespace) => void | Promise<void>) {
  return async () => {
    const namespace = NetworkNamespace.create();
    const links = RouteSocket.open({ namespace });
    const socket = IpvsSocket.open({ namespace });
    try {
      links.setLink({ index: 1, name: 'lo' }, { up: true });
      await work(socket, namespace);
    } finally {
      socket.close();
      links.close();
      namespace.close();
    }
  };
}

/** All services and destinations as lines of `ipvsadm -S -n`, sorted, because ipvsadm has another order. */
function save(socket: IpvsSocket): string[] {
  return socket
    .services()
    .flatMap(service => [
      printService('-A', service),
      ...socket.destinations(service.key).map(destination => printDestination('-a', service.key, destination)),
    ])
    .sort();
}

const SERVICES: readonly Service[] = [
  { key: web, scheduler: 'rr' },
  { key: key('10.96.0.1', 53, 'UDP'), scheduler: 'lc' },
  { key: key('10.96.0.1', 9, 'SCTP'), scheduler: 'wrr' },
  { key: web6, scheduler: 'rr' },
  { key: key('fd00::1', 53, 'UDP'), scheduler: 'rr', flags: ServiceFlag.ONEPACKET },
  { key: key('fd00::2', 80), scheduler: 'rr', flags: ServiceFlag.PERSISTENT, timeout: 10800, netmask: 64 },
  { key: key('10.96.0.2', 80), scheduler: 'mh', flags: ServiceFlag.PERSISTENT | ServiceFlag.SCHED2, timeout: 10800 },
  { key: key('10.96.0.3', 80), scheduler: 'sh', flags: ServiceFlag.SCHED1 | ServiceFlag.SCHED2 },
  { key: key('10.96.0.4', 0), scheduler: 'rr', flags: ServiceFlag.PERSISTENT, timeout: 300, netmask: 0xffffff00 },
  {
    key: key('10.96.0.5', 5060, 'UDP'),
    scheduler: 'rr',
    flags: ServiceFlag.PERSISTENT | ServiceFlag.ONEPACKET | ServiceFlag.SCHED1,
    timeout: 60,
    persistenceEngine: 'sip',
  },
  { key: { kind: 'fwmark', family: 'IPv4', fwmark: 1 }, scheduler: 'rr' },
  { key: { kind: 'fwmark', family: 'IPv6', fwmark: 2 }, scheduler: 'rr' },
];

test(
  'KERNEL-4 services and destinations of every kind print as ipvsadm lists them',
  inNamespace((socket, namespace) => {
    for (const service of SERVICES) {
      socket.newService(service);
      const v6 = service.key.kind === 'address' ? service.key.address.includes(':') : service.key.family === 'IPv6';
      const port = service.key.kind === 'address' ? service.key.port : 8080;
      socket.newDestination(service.key, { address: ip(v6 ? 'fd01::2' : '10.244.1.2'), port });
      socket.newDestination(service.key, {
        address: ip(v6 ? 'fd01::3' : '10.244.1.3'),
        port,
        forward: 'route',
        weight: 0,
      });
    }
    assert.deepEqual(ipvsadm(namespace, '-S', '-n').sort(), save(socket));
    assert.equal(save(socket).length, 3 * SERVICES.length);
  }),
);

test(
  'KERNEL-11 reads services and destinations that ipvsadm created',
  inNamespace((socket, namespace) => {
    ipvsadm(namespace, '-A', '-t', '10.96.0.1:80', '-s', 'sh', '-b', 'sh-port', '-p', '600');
    ipvsadm(namespace, '-a', '-t', '10.96.0.1:80', '-r', '10.244.1.2:8080', '-m', '-w', '7', '-x', '100', '-y', '50');
    const stats = socket.service(web)?.stats;
    assert.equal(stats?.connections, 0n);
    assert.deepEqual(socket.service(web), {
      key: web,
      scheduler: 'sh',
      flags: ServiceFlag.PERSISTENT | ServiceFlag.SCHED2,
      timeout: 600,
      netmask: 0xffffffff,
      persistenceEngine: undefined,
      stats,
    });
    assert.deepEqual(socket.destinations(web), [
      {
        address: '10.244.1.2',
        port: 8080,
        forward: 'masq',
        weight: 7,
        upperThreshold: 100,
        lowerThreshold: 50,
        activeConnections: 0,
        inactiveConnections: 0,
        persistentConnections: 0,
        stats,
      },
    ]);
  }),
);

test(
  'KERNEL-11 edits and deletes services and destinations',
  inNamespace((socket, namespace) => {
    for (const [service, destination] of [
      [web, ip('10.244.1.2')],
      [web6, ip('fd01::2')],
    ] as const) {
      socket.newService({ key: service, scheduler: 'rr', flags: ServiceFlag.PERSISTENT, timeout: 60 });
      socket.setService({ key: service, scheduler: 'lc' });
      assert.equal(socket.service(service)?.scheduler, 'lc');
      assert.equal(socket.service(service)?.flags, 0);
      socket.newDestination(service, { address: destination, port: 8080 });
      socket.setDestination(service, { address: destination, port: 8080, weight: 0, upperThreshold: 9 });
      assert.deepEqual(
        ipvsadm(namespace, '-S', '-n'),
        save(socket).map(line => line.replace(' -x 9', '')),
      );
      assert.equal(socket.destinations(service)[0]?.upperThreshold, 9);
      socket.deleteDestination(service, { address: destination, port: 8080 });
      assert.deepEqual(socket.destinations(service), []);
      socket.deleteService(service);
      assert.equal(socket.service(service), undefined);
    }
  }),
);

test(
  'KERNEL-11 ipvsadm lists a tunnel destination as a tunnel',
  inNamespace((socket, namespace) => {
    socket.newService({ key: web, scheduler: 'rr' });
    socket.newDestination(web, { address: ip('10.244.1.5'), port: 80, forward: 'tunnel', weight: 2 });
    assert.deepEqual(ipvsadm(namespace, '-S', '-n')[1], `${save(socket)[1]} --tun-type ipip`);
  }),
);

test(
  'KERNEL-11 an error has the refused command and the errno',
  inNamespace(socket => {
    const destination = { address: ip('10.244.1.2'), port: 80 };
    const refused = (work: () => void, errno: string, operation: string) =>
      assert.throws(work, { code: 'KERNEL_REFUSED', errno, operation: `ipvsadm ${operation}` });
    refused(() => socket.deleteService(web), 'ESRCH', '-D -t 10.96.0.1:80');
    refused(() => socket.newDestination(web, destination), 'ESRCH', '-a -t 10.96.0.1:80 -r 10.244.1.2:80 -m -w 1');
    refused(() => socket.newService({ key: web, scheduler: 'nonesuch' }), 'ENOENT', '-A -t 10.96.0.1:80 -s nonesuch');
    socket.newService({ key: web, scheduler: 'rr' });
    refused(() => socket.newService({ key: web, scheduler: 'rr' }), 'EEXIST', '-A -t 10.96.0.1:80 -s rr');
    refused(() => socket.deleteDestination(web, destination), 'ENOENT', '-d -t 10.96.0.1:80 -r 10.244.1.2:80');
    socket.newDestination(web, destination);
    refused(() => socket.newDestination(web, destination), 'EEXIST', '-a -t 10.96.0.1:80 -r 10.244.1.2:80 -m -w 1');
    assert.deepEqual(socket.destinations(web6), []);
  }),
);

test(
  'KERNEL-11 applies many changes at once and returns the refused ones',
  inNamespace(async (socket, namespace) => {
    const changes: IpvsChange[] = [];
    for (let i = 0; i < 300; i++) {
      const service = key(`10.96.${i >> 8}.${i & 255}`, 80);
      changes.push({ kind: 'new-service', service: { key: service, scheduler: 'rr' } });
      changes.push({ kind: 'new-dest', service, destination: { address: ip('10.244.1.2'), port: 8080 } });
      changes.push({ kind: 'new-dest', service, destination: { address: ip('10.244.1.3'), port: 8080 } });
    }
    const bad: IpvsChange = { kind: 'del-service', service: web6 };
    const again: IpvsChange = { kind: 'new-service', service: { key: web, scheduler: 'rr' } };
    socket.newService({ key: web, scheduler: 'rr' });
    const refused = await socket.apply([bad, ...changes, again]);
    assert.deepEqual(
      refused.map(({ item, error }) => [item, error.errno, error.operation]),
      [
        [bad, 'ESRCH', 'ipvsadm -D -t [fd00::1]:80'],
        [
          changes.find(
            change =>
              change.kind === 'new-service' &&
              change.service.key.kind === 'address' &&
              change.service.key.address === '10.96.0.1',
          ),
          'EEXIST',
          'ipvsadm -A -t 10.96.0.1:80 -s rr',
        ],
        [again, 'EEXIST', 'ipvsadm -A -t 10.96.0.1:80 -s rr'],
      ],
    );
    assert.equal(socket.services().length, 300);
    assert.deepEqual(ipvsadm(namespace, '-S', '-n').sort(), save(socket));
    socket.flush();
    assert.deepEqual(socket.services(), []);
  }),
);

test(
  'KERNEL-11 sets timeouts, and zero keeps the current value',
  inNamespace((socket, namespace) => {
    socket.setConfig({ tcp: 800, tcpFin: 110, udp: 290 });
    socket.setConfig({ tcp: 0, tcpFin: 100, udp: 0 });
    assert.deepEqual(socket.config(), { tcp: 800, tcpFin: 100, udp: 290 });
    assert.deepEqual(ipvsadm(namespace, '-L', '--timeout'), ['Timeout (tcp tcpfin udp): 800 100 290']);
    assert.equal(printInfo(socket.info()), ipvsadm(namespace, '-L', '-n')[0]);
  }),
);

test(
  'KERNEL-11 counts connections and packets, and zeroes the counts of one service or of all',
  inNamespace(async (socket, namespace) => {
    const service = key('127.0.0.9', 80, 'UDP');
    const other = key('127.0.0.10', 80, 'UDP');
    for (const each of [service, other]) {
      socket.newService({ key: each, scheduler: 'rr' });
      socket.newDestination(each, { address: ip('127.0.0.1'), port: 80 });
    }
    const script = 'for a in 9 10; do echo x > /dev/udp/127.0.0.$a/80; done';
    assert.equal(namespace.run(() => spawnSync('bash', ['-c', script])).status, 0);
    assert.equal(socket.destinations(service)[0]?.inactiveConnections, 1);

    const packets = () => [service, other].map(each => socket.service(each)?.stats?.inPackets);
    // Every two seconds the kernel adds up the counters of its processors.
    for (let tries = 0; tries < 60 && packets().includes(0n); tries++) await delay(50);
    assert.deepEqual(packets(), [1n, 1n]);
    const bytes = BigInt('x\n'.length + 28);
    assert.equal(socket.destinations(service)[0]?.stats?.connections, 1n);
    assert.equal(socket.destinations(service)[0]?.stats?.inBytes, bytes);
    socket.zero(service);
    assert.deepEqual(packets(), [0n, 1n]);
    socket.zero();
    assert.deepEqual(packets(), [0n, 0n]);
  }),
);

test(
  'KERNEL-11 each network namespace has its own services and settings of ip_vs',
  inNamespace((socket, namespace) => {
    const other = NetworkNamespace.create();
    const there = IpvsSocket.open({ namespace: other });
    try {
      socket.newService({ key: web, scheduler: 'rr' });
      assert.deepEqual(there.services(), []);
      assert.equal(ensureSysctl('net/ipv4/vs/conntrack', 1, namespace), 'changed');
      assert.equal(ensureSysctl('net/ipv4/vs/conntrack', 1, namespace), 'unchanged');
      assert.equal(readSysctl('net/ipv4/vs/conntrack', other), '0');
    } finally {
      there.close();
      other.close();
    }
  }),
);
