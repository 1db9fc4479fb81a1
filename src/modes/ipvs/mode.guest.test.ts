import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { IpvsHarness } from '../../../test/support/ipvs-mode.ts';
import { ipvsState, rulesOf, servers, stateWithoutRules } from '../../../test/support/ipvs-state.ts';
import { modeSettingsFor } from '../../../test/support/mode-harness.ts';
import { createNodeNamespace } from '../../../test/support/namespaces.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { runIn } from '../../../test/support/run-in.ts';
import { Cluster } from '../../demo/playground/index.ts';
import { IpvsSocket } from '../../kernel/ipvs/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { RouteSocket } from '../../kernel/rtnetlink/index.ts';
import { connectTcp, listenTcp } from '../../kernel/sockets/index.ts';
import { readSysctl } from '../../kernel/sysctl.ts';
import { errorText } from '../../lib/error-text.ts';
import type { Ip } from '../../net/index.ts';
import { cleanupIpvs } from './cleanup.ts';
import type { IpvsOptions } from './settings/options.ts';
import { ipvsUnavailable } from './support.ts';

type Work = (mode: IpvsHarness, namespace: NetworkNamespace) => Promise<void>;

async function withMode(work: Work, options?: IpvsOptions): Promise<void> {
  const namespace = createNodeNamespace();
  const mode = new IpvsHarness(namespace, options);
  try {
    await work(mode, namespace);
  } finally {
    await mode.close();
    namespace.close();
  }
}

/** Adds Services of every kind. */
function addServices(mode: IpvsHarness): void {
  mode.set(
    service('web', { clusterIP: '10.96.0.1' }),
    slice('web-1', [{ ip: '10.244.1.1', nodeName: 'node-a' }, '10.244.2.1']),
    service('dns', { clusterIP: '10.96.0.53', ports: [{ protocol: 'UDP', port: 53, nodePort: 30053 }] }),
    slice('dns-1', ['10.244.2.53'], { ports: [{ name: '', protocol: 'UDP', port: 53 }] }),
    service('lb', {
      clusterIP: '10.96.0.2',
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      externalIPs: ['198.51.100.1'],
      ingress: [{ ip: '203.0.113.1' }],
      loadBalancerSourceRanges: ['203.0.113.9/32', '192.168.0.0/24'],
      healthCheckNodePort: 31000,
      ports: [{ port: 443, nodePort: 30443 }],
    }),
    slice('lb-1', [{ ip: '10.244.1.2', nodeName: 'node-a' }, '10.244.2.2']),
  );
}

/** The state of IPv4, which most tests are about. */
const state = (namespace: NetworkNamespace) => ({ ...stateWithoutRules(namespace), rules: rulesOf(namespace, 'IPv4') });

const save = (namespace: NetworkNamespace) => servers(namespace).trim().split('\n');
const ipvsadm = (namespace: NetworkNamespace, line: string) => runIn(namespace, 'ipvsadm', line.split(' '));

describe('writes', () => {
  test('IPVS-2 a change costs a few messages, however many Services there are', () =>
    withMode(async mode => {
      const change = async (ip: string) => {
        mode.set(slice('web-1', ['10.244.1.1', ip]));
        await mode.sync();
        return mode.messages;
      };
      addServices(mode);
      await mode.sync();
      await change('10.244.9.1');
      const few = await change('10.244.9.2');
      for (let i = 0; i < 500; i++) {
        mode.set(service(`s${i}`, { clusterIP: `10.100.${i >> 8}.${i & 255}` }), slice(`s${i}-1`, ['10.244.9.9']));
      }
      await mode.sync();
      assert.equal(await change('10.244.9.3'), few);
      // The mode adds the new real server, sets the weight of the old one to 0, lists its connections and deletes it.
      assert.equal(few, 4);
      await mode.sync();
      assert.equal(mode.messages, 0);
    }));

  test('IPVS-3 the mode sets sysctls and timeouts, and makes the link', () =>
    withMode(
      async (mode, namespace) => {
        await mode.sync();
        const names = ['vs/conntrack', 'vs/expire_nodest_conn', 'vs/expire_quiescent_template', 'ip_forward'];
        const values = [...names, 'conf/all/arp_ignore', 'conf/all/arp_announce'].map(name =>
          readSysctl(`net/ipv4/${name}`, namespace),
        );
        assert.deepEqual(values, ['1', '1', '1', '1', '1', '2']);
        const socket = IpvsSocket.open({ namespace });
        assert.deepEqual(socket.config(), { tcp: 111, tcpFin: 22, udp: 33 });
        socket.close();
        const link = runIn(namespace, 'ip', ['-d', 'link', 'show', 'kube-ipvs0']);
        assert.match(link, /kube-ipvs0: <BROADCAST,NOARP> .* state DOWN/);
        assert.match(link, /dummy/);
        assert.doesNotMatch(link, /qlen/);
      },
      { strictARP: true, timeouts: { tcp: 111, tcpFin: 22, udp: 33 } },
    ));

  test('IPVS-4 node ports follow the addresses of the node, and kube-ipvs0 does not get an address that the node has', () =>
    withMode(async (mode, namespace) => {
      addServices(mode);
      await mode.sync();
      const nodePorts = () => save(namespace).filter(line => line.startsWith('-A') && line.includes(':30443'));
      assert.deepEqual(nodePorts(), ['-A -t 192.168.0.2:30443 -s rr']);
      const route = RouteSocket.open({ namespace });
      const eth0 = route.link('eth0') ?? assert.fail('no eth0');
      const addresses = () => runIn(namespace, 'ip', ['-o', 'addr', 'show', 'dev', 'kube-ipvs0']);
      assert.match(addresses(), /203\.0\.113\.1\/32/);
      for (const ip of ['192.168.0.7', '203.0.113.1'] as Ip[]) route.addAddress(eth0, { ip, prefix: 24 });
      await untilPassed(mode, () => nodePorts().length === 3);
      assert.doesNotMatch(addresses(), /203\.0\.113\.1/);
      route.deleteAddress(eth0, { ip: '192.168.0.7' as Ip, prefix: 24 });
      await untilPassed(mode, () => nodePorts().length === 2);
      route.close();
      assert.deepEqual(mode.events.lines, []);
    }));

  test('IPVS-5 a Service chooses its scheduler; if the kernel lacks it, the mode reports that and uses the configured one', () =>
    withMode(async (mode, namespace) => {
      const annotations = (scheduler: string) => ({ annotations: { 'pointsman.dev/scheduler': scheduler } });
      mode.set(
        service('a', { clusterIP: '10.96.0.1', ...annotations('lc') }),
        service('b', { clusterIP: '10.96.0.2', ...annotations('nosuch') }),
        service('c', { clusterIP: '10.96.0.3', ...annotations('mh') }),
      );
      await mode.sync();
      assert.deepEqual(save(namespace), [
        '-A -t 10.96.0.1:80 -s lc',
        '-A -t 10.96.0.2:80 -s rr',
        '-A -t 10.96.0.3:80 -s mh -b mh-port',
      ]);
      assert.deepEqual(mode.events.lines.length, 1);
      assert.match(
        mode.events.lines[0] ?? '',
        /^notice: The kernel lacks scheduler nosuch, which a Service asks for, so the mode uses rr: .*ENOENT/,
      );
      assert.deepEqual(mode.setAside(), []);
      mode.set(service('a', { clusterIP: '10.96.0.1' }));
      await mode.sync();
      assert.equal(save(namespace)[0], '-A -t 10.96.0.1:80 -s rr');
    }));

  test('IPVS-6 a service port that the kernel refuses is set aside, and the others are programmed', () =>
    withMode(async (mode, namespace) => {
      mode.set(
        service('bad', { clusterIP: '10.96.0.1' }),
        slice('bad-1', ['255.255.255.255']),
        service('good', { clusterIP: '10.96.0.2' }),
        slice('good-1', ['10.244.1.1']),
      );
      await mode.sync();
      assert.deepEqual(mode.setAsideNames, ['default/bad']);
      assert.equal(mode.events.setAsides.length, 1);
      assert.match(mode.events.setAsides[0]?.cause.message ?? '', /255\.255\.255\.255:8080.*EINVAL/);
      assert.ok(save(namespace).includes('-a -t 10.96.0.2:80 -r 10.244.1.1:8080 -m -w 1'));
      await mode.pass(30_000);
      assert.equal(mode.events.setAsides.length, 1, 'the mode tries again and reports once');
      mode.set(slice('bad-1', ['10.244.1.3']));
      await mode.sync();
      assert.deepEqual(mode.setAside(), []);
    }));
});

describe('full sets', () => {
  const MAXELEM = 3;
  const named = (name: string, ip: string) => [
    service(name, { clusterIP: ip }),
    slice(`${name}-1`, [ip.replace('10.96', '10.244')]),
  ];
  /** Cluster IPs of which there are elements. */
  const elements = (namespace: NetworkNamespace) =>
    [...runIn(namespace, 'ipset', ['list', 'KUBE-CLUSTER-IP']).matchAll(/^(.+),tcp:80$/gm)].map(([, ip]) => ip).sort();

  const withFullSet = (work: Work) =>
    withMode(async (mode, namespace) => {
      runIn(namespace, 'ipset', ['create', 'KUBE-CLUSTER-IP', 'hash:ip,port', 'maxelem', `${MAXELEM}`]);
      mode.set(...named('a', '10.96.0.1'), ...named('b', '10.96.0.2'), ...named('c', '10.96.0.3'));
      await mode.sync();
      assert.equal(elements(namespace).length, MAXELEM);
      await work(mode, namespace);
    });

  test('IPVS-19 a full set takes a new element in the same sync in which another one leaves', () =>
    withFullSet(async (mode, namespace) => {
      mode.deleteService('default/b');
      mode.set(...named('d', '10.96.0.4'));
      await mode.sync();
      assert.deepEqual(elements(namespace), ['10.96.0.1', '10.96.0.3', '10.96.0.4']);
      assert.deepEqual([mode.setAsideNames, mode.events.setAsides, mode.events.lines], [[], [], []]);
      await mode.pass(30_000);
      assert.deepEqual(mode.events.lines, [], 'there was nothing to repair');
    }));

  test('IPVS-19 service ports for which a full set has no room are set aside until there is room', () =>
    withFullSet(async (mode, namespace) => {
      mode.set(...named('d', '10.96.0.4'), ...named('e', '10.96.0.5'), slice('a-1', ['10.244.9.9']));
      await mode.sync();
      assert.deepEqual(mode.setAsideNames, ['default/d', 'default/e']);
      assert.match(
        mode.events.setAsides[0]?.cause.message ?? '',
        /^add KUBE-CLUSTER-IP 10\.96\.0\.4,tcp:80: IPSET_ERR_HASH_FULL/,
      );
      assert.deepEqual(elements(namespace), ['10.96.0.1', '10.96.0.2', '10.96.0.3']);
      assert.ok(save(namespace).includes('-a -t 10.96.0.1:80 -r 10.244.9.9:8080 -m -w 1'));
      await mode.pass(30_000);
      assert.equal(mode.events.setAsides.length, 2, 'the mode tries again and reports once');
      mode.deleteService('default/b');
      mode.deleteService('default/c');
      await mode.sync();
      await mode.pass(30_000);
      assert.deepEqual(elements(namespace), ['10.96.0.1', '10.96.0.4', '10.96.0.5']);
      assert.deepEqual(mode.setAsideNames, []);
    }));
});

/** Waits for notifications of the kernel. The mode handles them a moment later. */
async function untilPassed(mode: IpvsHarness, isTrue: () => boolean): Promise<void> {
  for (let i = 0; i < 100; i++) {
    await mode.pass(50);
    if (isTrue()) return;
    await delay(10);
  }
  assert.fail('it did not become true');
}

describe('restart', () => {
  test('IPVS-6 the next sync writes the plans of a sync that failed at its very beginning', () =>
    withMode(async (mode, namespace) => {
      const broken = {
        ...modeSettingsFor('IPv4').nodePortAddresses,
        get matchAll(): boolean {
          throw new Error('no addresses');
        },
      };
      mode.set(service('web', { clusterIP: '10.96.0.1' }), slice('web-1', ['10.244.1.1']));
      await assert.rejects(mode.sync({ nodePortAddresses: broken }), /no addresses/);
      await mode.sync();
      assert.ok(save(namespace).includes('-a -t 10.96.0.1:80 -r 10.244.1.1:8080 -m -w 1'));
    }));

  test('IPVS-7 a restart writes nothing if nothing changed, and removes leftovers', () =>
    withMode(async (mode, namespace) => {
      addServices(mode);
      await mode.sync();
      const before = state(namespace);
      await mode.restart();
      assert.deepEqual(state(namespace), before);
      mode.deleteService('default/lb');
      await mode.sync();
      await mode.pass(30_000);
      assert.deepEqual(mode.events.lines, [], 'a thorough look finds no difference');
    }));

  test('IPVS-8 a restart gives wanted real servers weight 1, and removes others', () =>
    withMode(async (mode, namespace) => {
      addServices(mode);
      await mode.sync();
      const before = state(namespace);
      ipvsadm(namespace, '-e -t 10.96.0.1:80 -r 10.244.1.1:8080 -m -w 0');
      ipvsadm(namespace, '-a -t 10.96.0.1:80 -r 10.244.7.7:8080 -m -w 0');
      ipvsadm(namespace, '-A -t 203.0.113.1:444 -s rr');
      ipvsadm(namespace, '-E -t 10.96.0.1:80 -s lc');
      await mode.restart();
      assert.deepEqual(state(namespace), before);
    }));

  test('IPVS-9 virtual servers of other programs stay through syncs, restarts and cleanup', () =>
    withMode(
      async (mode, namespace) => {
        const foreign = ['-A -t 172.16.0.1:80 -s wlc', '-A -t 192.168.0.2:8443 -s rr', '-A -f 7 -s rr'];
        for (const line of [...foreign, '-A -t 10.96.3.3:80 -s rr']) ipvsadm(namespace, line);
        ipvsadm(namespace, '-a -t 172.16.0.1:80 -r 172.16.5.5:80 -m -w 5');
        // A Service has this node port, but this machine does not have the address.
        ipvsadm(namespace, '-A -t 172.16.0.2:30443 -s rr');
        ipvsadm(namespace, '-a -t 172.16.0.2:30443 -r 172.16.5.5:80 -m -w 1');
        addServices(mode);
        await mode.sync();
        await mode.restart();
        mode.deleteService('default/web');
        await mode.sync();
        await mode.close();
        const { removed, errors } = await cleanupIpvs({ namespace });
        assert.deepEqual(errors, []);
        assert.deepEqual(save(namespace), [
          '-A -f 7 -s rr',
          '-A -t 10.96.3.3:80 -s rr',
          '-A -t 172.16.0.1:80 -s wlc',
          '-A -t 172.16.0.2:30443 -s rr',
          '-A -t 192.168.0.2:8443 -s rr',
          '-a -t 172.16.0.1:80 -r 172.16.5.5:80 -m -w 5',
          '-a -t 172.16.0.2:30443 -r 172.16.5.5:80 -m -w 1',
        ]);
        assert.deepEqual(removed, ['6 IPv4 virtual servers', '11 IPv4 chains', '17 sets', 'link kube-ipvs0']);
      },
      { excludeCIDRs: ['10.96.3.0/24'] },
    ));

  test('IPVS-9 node ports at an address that the machine lost while no proxy ran are removed', () =>
    withMode(async (mode, namespace) => {
      const route = RouteSocket.open({ namespace });
      const eth0 = route.link('eth0') ?? assert.fail('no eth0');
      const former = { ip: '192.168.0.7' as Ip, prefix: 24 };
      route.addAddress(eth0, former);
      addServices(mode);
      await mode.sync();
      const atFormer = () => save(namespace).filter(line => line.includes('192.168.0.7'));
      assert.ok(atFormer().length > 0);
      await mode.close();
      route.deleteAddress(eth0, former);
      route.close();
      await mode.restart();
      assert.deepEqual(atFormer(), []);
    }));
});

describe('drift', () => {
  const alterations: [string, string][] = [
    ['virtual servers are cleared', 'ipvsadm -C'],
    ['sets are flushed', 'ipset flush'],
    ['an element is deleted', 'ipset del KUBE-CLUSTER-IP 10.96.0.1,tcp:80'],
    ['the link is deleted', 'ip link del kube-ipvs0'],
    ['an address is deleted', 'ip addr del 10.96.0.1/32 dev kube-ipvs0'],
    ['rules are flushed', 'iptables -t nat -F KUBE-SERVICES'],
  ];
  test('IPVS-10 the mode repairs soon what another program cleared, and reports it', () =>
    withMode(async (mode, namespace) => {
      addServices(mode);
      await mode.sync();
      const before = state(namespace);
      for (const [what, command] of alterations) {
        const [program = '', ...args] = command.split(' ');
        runIn(namespace, program, args);
        mode.events.lines.length = 0;
        for (let i = 0; i < 5 && mode.events.lines.length === 0; i++) {
          await delay(20);
          await mode.pass(1000);
        }
        assert.match(mode.events.lines[0] ?? '', /^repaired: /, what);
        assert.deepEqual(state(namespace), before, what);
      }
    }));

  test('IPVS-10 a thorough look finds every other change', () =>
    withMode(async (mode, namespace) => {
      addServices(mode);
      await mode.sync();
      const before = state(namespace);
      ipvsadm(namespace, '-e -t 10.96.0.1:80 -r 10.244.1.1:8080 -m -w 7');
      runIn(namespace, 'iptables', ['-D', 'KUBE-FORWARD', '1']);
      runIn(namespace, 'iptables', ['-D', 'OUTPUT', '1']);
      await mode.pass(30_000);
      assert.deepEqual(state(namespace), before);
      assert.equal(mode.events.lines.length, 1);
      assert.match(mode.events.lines[0] ?? '', /changed real server ×1, rewrote rules ×1/);
      runIn(namespace, 'iptables', ['-A', 'INPUT', '-m', 'set', '--match-set', 'KUBE-CLUSTER-IP', 'dst,dst']);
      await mode.pass(1000);
      const { messages } = mode;
      await mode.pass(1000);
      assert.equal(mode.messages, messages, 'a rule of another program that uses a set is noticed once');
      assert.equal(mode.events.lines.length, 1);
    }));

  test('IPVS-10 a sync that finds changes of another program reads everything again', () =>
    withMode(async (mode, namespace) => {
      addServices(mode);
      await mode.sync();
      ipvsadm(namespace, '-C');
      mode.set(slice('web-1', ['10.244.1.9']));
      await mode.sync();
      assert.ok(save(namespace).includes('-a -u 10.96.0.53:53 -r 10.244.2.53:53 -m -w 1'));
      assert.ok(save(namespace).includes('-a -t 10.96.0.1:80 -r 10.244.1.9:8080 -m -w 1'));
    }));
});

test('IPVS-11 TRAFFIC-7 connections to an endpoint that leaves go on, also through a restart; new ones go to another endpoint', async () => {
  const cluster = Cluster.create();
  const [a, b, client] = (['10.244.1.2', '10.244.1.3', '10.244.1.200'] as Ip[]).map(ip => cluster.addPod(ip));
  assert.ok(a && b && client);
  const mode = new IpvsHarness(cluster.node);
  const listeners = await Promise.all(
    (
      [
        [a, '10.244.1.2'],
        [b, '10.244.1.3'],
      ] as const
    ).map(([namespace, ip]) =>
      listenTcp(namespace, ip as Ip, 8080, connection => connection.on('data', () => connection.write(ip))),
    ),
  );
  const connections: Awaited<ReturnType<typeof connectTcp>>[] = [];
  const ask = async (connection: (typeof connections)[number]) => {
    connection.write('?');
    const [answer] = await once(connection, 'data');
    return String(answer);
  };
  const connect = async () => {
    const connection = await connectTcp(client, '10.96.0.1' as Ip, 80);
    connections.push(connection.on('error', () => {}));
    return connection;
  };
  try {
    mode.set(service('web', { clusterIP: '10.96.0.1' }), slice('web-1', ['10.244.1.2']));
    await mode.sync();
    const first = await connect();
    assert.equal(await ask(first), '10.244.1.2');
    mode.set(slice('web-1', ['10.244.1.3']));
    await mode.sync();
    const draining = '-a -t 10.96.0.1:80 -r 10.244.1.2:8080 -m -w 0';
    assert.ok(save(cluster.node).includes(draining));
    assert.equal(await ask(first), '10.244.1.2');
    await mode.restart();
    await mode.pass(10_000);
    assert.ok(save(cluster.node).includes(draining));
    assert.equal(await ask(first), '10.244.1.2');
    assert.equal(await ask(await connect()), '10.244.1.3');
    // The kernel updates its counters every two seconds.
    const busiest = async () => (await mode.statistics()).servicePorts[0];
    for (let i = 0; i < 40 && ((await busiest())?.connections ?? 0n) < 2n; i++) await delay(100);
    const port = await busiest();
    assert.equal(port?.service, 'default/web');
    assert.equal(port?.connections, 2n);
    assert.deepEqual(await mode.mode.connectionCounts(), new Map([['default/web', 2]]));
    const [traffic] = (await mode.mode.traffic()) ?? [];
    assert.deepEqual([traffic?.service, traffic?.connections, traffic?.active], ['default/web', 2, 2]);
    assert.ok((traffic?.packets ?? 0) >= 6 && (traffic?.bytes ?? 0) > 6 * 40, 'two handshakes');
    const endpoints = Array.from(traffic?.endpoints ?? [], ([address, { connections, active }]) => [
      address,
      connections,
      active,
    ]);
    assert.deepEqual(endpoints.sort(), [
      ['10.244.1.2:8080', 1, 1],
      ['10.244.1.3:8080', 1, 1],
    ]);
    assert.deepEqual(
      port?.realServers.map(({ address, weight, activeConnections }) => [address, weight, activeConnections]),
      [
        ['10.244.1.2:8080', 0, 1],
        ['10.244.1.3:8080', 1, 1],
      ],
    );
    mode.set(slice('web-1', ['10.244.1.2', '10.244.1.3']));
    await mode.sync();
    assert.equal(await ask(first), '10.244.1.2', 'it came back before its last connection ended');
    assert.ok(save(cluster.node).includes(draining.replace('-w 0', '-w 1')));
  } finally {
    for (const connection of connections) connection.destroy();
    for (const listener of listeners) listener.close();
    await mode.close();
    cluster.close();
  }
});

test('IPVS-12 the mode cannot run if the kernel lacks the scheduler, and the reason names it', async () => {
  const namespace = createNodeNamespace();
  try {
    assert.equal(await ipvsUnavailable('rr', namespace), undefined);
    assert.match(
      (await ipvsUnavailable('nosuch', namespace)) ?? '',
      /^can't use the IPVS proxier: ipvsadm -A -t 198\.51\.100\.0:20000 -s nosuch: ENOENT/,
    );
    assert.deepEqual(save(namespace), [''], 'nothing stays behind');
  } finally {
    namespace.close();
  }
});

test('IPVS-13 cleanup removes everything of both families, and nothing of other programs', async () => {
  const namespace = createNodeNamespace();
  try {
    const before = ipvsState(namespace);
    runIn(namespace, 'iptables', ['-N', 'OTHER']);
    runIn(namespace, 'iptables', ['-A', 'INPUT', '-j', 'OTHER']);
    runIn(namespace, 'ipset', ['create', 'OTHER', 'hash:ip']);
    for (const family of ['IPv4', 'IPv6'] as const) {
      const mode = new IpvsHarness(namespace, {}, family);
      const [clusterIP, ip] = family === 'IPv4' ? ['10.96.0.1', '10.244.1.1'] : ['fd00:10:96::1', 'fd00:10:244::1'];
      mode.set(service('web', { clusterIP, ports: [{ nodePort: 30080 }] }), slice('web-1', [ip]));
      await mode.sync();
      await mode.close();
    }
    assert.equal(save(namespace).length, 8);
    await cleanupIpvs({ namespace });
    const after = ipvsState(namespace);
    assert.equal(after['addrs.txt'], before['addrs.txt']);
    assert.equal(after['ipvs.txt'], '\n');
    assert.equal(after['ipset.txt'], 'create OTHER hash:ip family inet maxelem 65536\n');
    assert.equal(after['iptables.v6.txt']?.match(/^-A|^:KUBE/gm), null);
    assert.deepEqual(after['iptables.v4.txt']?.match(/^-A.*|^:KUBE.*/gm), ['-A INPUT -j OTHER']);
    assert.deepEqual((await cleanupIpvs({ namespace })).removed, []);
  } finally {
    namespace.close();
  }
});

test('IPVS-13 cleanup removes the rest if it cannot remove something, and removes that later', () =>
  withMode(async (mode, namespace) => {
    addServices(mode);
    await mode.sync();
    await mode.close();
    const foreign = ['INPUT', '-m', 'set', '--match-set', 'KUBE-CLUSTER-IP', 'dst,dst', '-j', 'ACCEPT'];
    runIn(namespace, 'iptables', ['-A', ...foreign]);
    const { removed, errors } = await cleanupIpvs({ namespace });
    assert.deepEqual(
      removed.filter(object => !object.endsWith(' sets')),
      ['7 IPv4 virtual servers', '11 IPv4 chains', 'link kube-ipvs0'],
    );
    assert.deepEqual(errors.map(errorText), [
      'set KUBE-CLUSTER-IP: a rule of another program uses it: delete that rule ' +
        '(iptables-save | grep -w -- KUBE-CLUSTER-IP), then run the cleanup again',
    ]);
    const left = ipvsState(namespace);
    assert.deepEqual(left['ipset.txt']?.match(/^create \S+/gm), ['create KUBE-CLUSTER-IP']);
    runIn(namespace, 'iptables', ['-D', ...foreign]);
    assert.deepEqual((await cleanupIpvs({ namespace })).removed, ['1 set']);
  }));
