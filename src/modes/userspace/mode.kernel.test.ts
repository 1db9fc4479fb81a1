import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, test } from 'node:test';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { until } from '../../../test/support/nftables-mode.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { runIn, UserspaceUnderTest, withUserspace } from '../../../test/support/userspace-mode.ts';
import { EchoServer, probe } from '../../demo/playground/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { bindUdp, listenTcp } from '../../kernel/sockets/index.ts';
import type { Ip } from '../../net/index.ts';
import { cleanupUserspace } from './cleanup.ts';
import { UserspaceMode } from './mode.ts';

const ip = (text: string) => text as Ip;
const PODS = ['10.244.1.1', '10.244.1.2', '10.244.1.3'];

/** A Service `web` at 10.96.0.1:80 with node port 30080 and two endpoints. */
function web(under: UserspaceUnderTest, pods: readonly string[] = PODS.slice(0, 2)): void {
  under.set(service('web', { type: 'NodePort', ports: [{ nodePort: 30080 }] }), slice('web-1', pods));
}

function dns(under: UserspaceUnderTest, clusterIP = '10.96.0.2', pods: readonly string[] = PODS.slice(0, 1)): void {
  const ports = [{ name: '', protocol: 'UDP', port: 5353 }] as const;
  under.set(
    service('dns', { type: 'NodePort', clusterIP, ports: [{ protocol: 'UDP', port: 53, nodePort: 30053 }] }),
    slice('dns-1', pods, { ports }),
  );
}

/** Who answers, by address; or how it fails. */
async function ask(
  namespace: NetworkNamespace,
  address: string,
  port: number,
  protocol: 'TCP' | 'UDP' = 'TCP',
): Promise<string> {
  const { answers, failures } = await probe(namespace, ip(address), port, protocol, { tries: 6, timeoutMs: 500 });
  const who = [...answers.keys()].map(answer => answer.split(' ')[0]).sort();
  return [...who, ...failures].join(' ');
}

async function serving(
  namespace: NetworkNamespace,
  work: () => Promise<void>,
  protocol: 'TCP' | 'UDP' = 'TCP',
  pods: readonly string[] = PODS,
): Promise<void> {
  const port = protocol === 'TCP' ? 8080 : 5353;
  const servers = await Promise.all(pods.map(pod => EchoServer.start(namespace, ip(pod), port, protocol)));
  try {
    await work();
  } finally {
    await Promise.all(servers.map(server => server.close()));
  }
}

describe('rules', () => {
  test('USER-1 chains and jumps are those of old, and what filters is reached by new connections only', () =>
    withUserspace(async under => {
      web(under);
      await under.sync();
      const jumps = (table: 'nat' | 'filter') => under.rules(table).filter(line => !line.startsWith('-A KUBE-'));
      const first = '-m comment --comment "handle ClusterIPs; NOTE: this must be before the NodePort rules"';
      const last = '-m comment --comment "handle service NodePorts; NOTE: this must be the last rule in the chain"';
      assert.deepEqual(jumps('nat'), [
        `-A PREROUTING ${first} -j KUBE-PORTALS-CONTAINER`,
        `-A PREROUTING -m addrtype --dst-type LOCAL ${last} -j KUBE-NODEPORT-CONTAINER`,
        `-A OUTPUT ${first} -j KUBE-PORTALS-HOST`,
        `-A OUTPUT -m addrtype --dst-type LOCAL ${last} -j KUBE-NODEPORT-HOST`,
      ]);
      const filter =
        '-m conntrack --ctstate NEW -m comment --comment "portals without endpoints, and the ports behind portals"';
      assert.deepEqual(jumps('filter'), [
        `-A INPUT ${filter} -j KUBE-PORTALS-FILTER`,
        '-A INPUT -m comment --comment "Ensure that non-local NodePort traffic can flow" -j KUBE-NODEPORT-NON-LOCAL',
        `-A FORWARD ${filter} -j KUBE-PORTALS-FILTER`,
        `-A OUTPUT ${filter} -j KUBE-PORTALS-FILTER`,
      ]);
    }));

  test('USER-2 the node is sent to its address on the way out, others to where they came in', () =>
    withUserspace(async under => {
      web(under);
      await under.sync();
      const port = under.proxyPort('KUBE-PORTALS-CONTAINER');
      const at = '-d 10.96.0.1/32 -p tcp -m comment --comment "default/web" -m tcp --dport 80';
      const rules = under.rules();
      assert.ok(rules.includes(`-A KUBE-PORTALS-CONTAINER ${at} -j REDIRECT --to-ports ${port}`));
      assert.ok(rules.includes(`-A KUBE-PORTALS-HOST ${at} -j DNAT --to-destination 192.168.0.2:${port}`));
    }));

  test('USER-1 a change touches only the rules of its Service, and the same again writes nothing', () =>
    withUserspace(async under => {
      web(under);
      dns(under);
      await under.sync();
      const before = under.rules();
      under.set(slice('web-1', PODS));
      await under.sync();
      assert.deepEqual(under.rules(), before, 'endpoints are not in the rules');
      under.set(service('web', { clusterIP: '10.96.0.9' }));
      await under.sync();
      const after = under.rules();
      assert.deepEqual(
        after.filter(line => line.includes('default/dns')),
        before.filter(line => line.includes('default/dns')),
      );
      assert.ok(!after.some(line => line.includes('10.96.0.1/32') || line.includes('30080')));
      assert.ok(after.some(line => line.includes('10.96.0.9/32')));
      under.deleteService('default/web');
      under.deleteService('default/dns');
      await under.sync();
      assert.deepEqual(
        [...under.rules(), ...under.rules('filter')].filter(line => line.startsWith('-A KUBE-')),
        [],
      );
    }));

  test('USER-1 a new process replaces the rules of the former, and jumps stay once and where they are', () =>
    withUserspace(async (under, namespace) => {
      web(under);
      await under.sync();
      runIn(namespace, 'iptables', ['-t', 'nat', '-A', 'KUBE-PORTALS-HOST', '-j', 'ACCEPT']);
      runIn(namespace, 'iptables', ['-t', 'nat', '-I', 'OUTPUT', '-j', 'RETURN']);
      const jumps = () =>
        under.rules().filter(line => line.startsWith('-A OUTPUT') || line.startsWith('-A PREROUTING'));
      const before = jumps();
      const next = new UserspaceUnderTest(namespace, { drainMs: 0 });
      web(next);
      await next.sync();
      assert.deepEqual(jumps(), before);
      assert.ok(!next.rules().includes('-A KUBE-PORTALS-HOST -j ACCEPT'));
      assert.equal(next.rules().filter(line => line.startsWith('-A KUBE-PORTALS-HOST')).length, 1);
      await next.mode.close();
    }));

  test('USER-1 works in both families, and with the legacy programs', async () => {
    for (const backend of ['nf_tables', 'legacy'] as const) {
      await withUserspace(
        async (under, namespace) => {
          const clusterIPs = { clusterIPs: ['10.96.0.1', 'fd00:10:96::1'], ipFamilies: ['IPv4', 'IPv6'] };
          under.set(service('web', clusterIPs), slice('web-1', ['10.244.1.1']), slice('web-2', ['fd00:10:244:1::1']));
          await under.sync({}, ['IPv4', 'IPv6']);
          await serving(
            namespace,
            async () => {
              assert.equal(await ask(namespace, '10.96.0.1', 80), '10.244.1.1', backend);
              assert.equal(await ask(namespace, 'fd00:10:96::1', 80), 'fd00:10:244:1::1', backend);
            },
            'TCP',
            ['10.244.1.1', 'fd00:10:244:1::1'],
          );
        },
        { iptables: { backend } },
      );
    }
  });

  test('USER-6 rules that others change are put right when they are looked after', () =>
    withUserspace(async (under, namespace) => {
      web(under);
      await under.sync();
      await under.mode.settle();
      const before = under.rules();
      const drifts: [string, readonly string[]][] = [
        ['chain KUBE-PORTALS-HOST was changed', ['-t', 'nat', '-F', 'KUBE-PORTALS-HOST']],
        ['chain KUBE-PORTALS-HOST was changed', ['-t', 'nat', '-I', 'KUBE-PORTALS-HOST', '-j', 'RETURN']],
        ['the jump from OUTPUT to KUBE-PORTALS-HOST is missing', ['-t', 'nat', '-D', 'OUTPUT', '1']],
      ];
      for (const [what, command] of drifts) {
        await under.mode.settle();
        under.told.length = 0;
        runIn(namespace, 'iptables', command);
        await under.mode.settle();
        assert.deepEqual(under.told, [`repaired: ${what}`]);
        assert.deepEqual(under.rules(), before);
      }
      under.told.length = 0;
      under.set(service('other', { clusterIP: '10.96.0.7' }), slice('other-1', PODS));
      await under.sync();
      runIn(namespace, 'iptables', ['-t', 'nat', '-F', 'KUBE-PORTALS-CONTAINER']);
      await under.mode.settle();
      assert.deepEqual(under.told, ['repaired: chain KUBE-PORTALS-CONTAINER has 0 rules instead of 2']);
    }));

  test('USER-6 a changed sync period holds at once', async () => {
    const clock = new ManualClock();
    await withUserspace(
      async (under, namespace) => {
        web(under);
        await under.sync({ syncPeriodMs: 3_600_000 });
        await under.sync({ syncPeriodMs: 100 });
        runIn(namespace, 'iptables', ['-t', 'nat', '-F', 'KUBE-PORTALS-HOST']);
        await clock.advance(100);
        assert.ok(await until(() => under.told.some(line => line.startsWith('repaired')), 5000));
      },
      { clock },
    );
  });

  test('USER-21 cleanup removes chains and jumps of both families and nothing else, also twice', () =>
    withUserspace(async (under, namespace) => {
      web(under);
      await under.sync({}, ['IPv4', 'IPv6']);
      runIn(namespace, 'iptables', ['-t', 'nat', '-A', 'OUTPUT', '-j', 'RETURN']);
      const { removed, errors } = await cleanupUserspace({ namespace });
      assert.deepEqual(errors, []);
      assert.equal(removed.length, 12);
      assert.deepEqual([...under.rules(), ...under.rules('filter')], ['-A OUTPUT -j RETURN']);
      assert.ok(!runIn(namespace, 'iptables-save', []).includes('KUBE-'));
      assert.deepEqual({ ...(await cleanupUserspace({ namespace })) }, { removed: [], errors: [] });
    }));
});

describe('TCP', () => {
  test('USER-7 a connection to a portal reaches an endpoint, in turns', () =>
    withUserspace(async (under, namespace) => {
      web(under);
      await under.sync();
      await serving(namespace, async () => {
        assert.equal(await ask(namespace, '10.96.0.1', 80), '10.244.1.1 10.244.1.2');
        assert.equal(await ask(namespace, '192.168.0.2', 30080), '10.244.1.1 10.244.1.2');
        assert.equal(await ask(namespace, '127.0.0.1', 30080), '10.244.1.1 10.244.1.2');
      });
    }));

  test('USER-7 several ports of a Service, and TCP and UDP with one number, are apart', () =>
    withUserspace(async (under, namespace) => {
      const ports = [
        { name: 'p', protocol: 'TCP', port: 53 },
        { name: 'q', protocol: 'UDP', port: 53 },
        { name: 'r', protocol: 'TCP', port: 54 },
      ] as const;
      const targets = [
        { name: 'p', protocol: 'TCP', port: 8080 },
        { name: 'q', protocol: 'UDP', port: 5353 },
      ] as const;
      under.set(service('multi', { ports }), slice('multi-1', ['10.244.1.1'], { ports: targets }));
      await under.sync();
      await serving(namespace, () =>
        serving(
          namespace,
          async () => {
            assert.equal(await ask(namespace, '10.96.0.1', 53), '10.244.1.1');
            assert.equal(await ask(namespace, '10.96.0.1', 53, 'UDP'), '10.244.1.1');
            assert.equal(await ask(namespace, '10.96.0.1', 54), 'refused', 'no endpoint has the name');
          },
          'UDP',
        ),
      );
      const names = under.mode.counters().map(({ servicePort, protocol }) => `${servicePort} ${protocol}`);
      assert.deepEqual(names, ['default/multi:p TCP', 'default/multi:q UDP', 'default/multi:r TCP']);
    }));

  test('USER-8 a Service that is deleted, changed, made headless or brought back is served accordingly', () =>
    withUserspace(async (under, namespace) => {
      web(under);
      await under.sync();
      await serving(namespace, async () => {
        assert.equal(await ask(namespace, '10.96.0.1', 80), '10.244.1.1 10.244.1.2');
        const port = under.proxyPort('KUBE-PORTALS-CONTAINER');
        under.deleteService('default/web');
        await under.sync();
        assert.equal(await ask(namespace, '192.168.0.2', port), 'refused', 'the proxy port is closed');
        assert.deepEqual(under.mode.counters(), []);
        web(under);
        await under.sync();
        assert.equal(await ask(namespace, '10.96.0.1', 80), '10.244.1.1 10.244.1.2', 'endpoints are still known');
        under.set(service('web', { ports: [{ port: 99 }] }));
        await under.sync();
        assert.equal(await ask(namespace, '10.96.0.1', 99), '10.244.1.1 10.244.1.2');
        under.set(service('web', { externalIPs: ['198.51.100.7'] }));
        await under.sync();
        assert.equal(await ask(namespace, '198.51.100.7', 80), '10.244.1.1 10.244.1.2');
        for (const clusterIP of ['', 'None']) {
          under.set(service('web', { clusterIP }));
          await under.sync();
          assert.deepEqual(under.mode.counters(), []);
          assert.ok(!under.rules().some(line => line.includes('default/web')));
        }
        web(under);
        await under.sync();
        assert.equal(await ask(namespace, '10.96.0.1', 80), '10.244.1.1 10.244.1.2');
      });
    }));

  test('USER-9 nobody comes to a proxy port around its portal', () =>
    withUserspace(async (under, namespace) => {
      web(under);
      await under.sync();
      await serving(namespace, async () => {
        const port = under.proxyPort('KUBE-PORTALS-CONTAINER');
        assert.equal(await ask(namespace, '192.168.0.2', port), 'refused');
        assert.equal(await ask(namespace, '127.0.0.1', port), 'refused');
      });
    }));

  test('USER-11 with affinity a client stays with its endpoint', () =>
    withUserspace(async (under, namespace) => {
      under.set(service('web', { sessionAffinity: 'ClientIP' }), slice('web-1', PODS));
      await under.sync();
      await serving(namespace, async () => {
        const first = await ask(namespace, '10.96.0.1', 80);
        assert.ok(PODS.includes(first), first);
        assert.equal(await ask(namespace, '10.96.0.1', 80), first);
      });
    }));

  test('USER-14 counters tell connections, bytes and failures of each service port', () =>
    withUserspace(async (under, namespace) => {
      web(under, ['10.244.1.1', '10.244.1.9']);
      await under.sync();
      await serving(namespace, async () => {
        assert.equal(await ask(namespace, '10.96.0.1', 80), '10.244.1.1', 'the other refuses, and is left alone');
      });
      assert.ok(await until(() => under.mode.tcpConnections === 0, 2000));
      const [counters] = under.mode.counters();
      assert.ok(counters);
      assert.ok(counters.connections >= 6);
      assert.equal(counters.dialFailures, 1);
      assert.equal(counters.failures, 0);
      assert.equal(counters.active, 0);
      assert.equal(counters.bytesIn, 0);
      assert.equal(counters.bytesOut, counters.connections * '10.244.1.1 8080 10.244.1.1'.length);
    }));
});

describe('UDP', () => {
  test('USER-15 datagrams reach an endpoint and answers come back from where they were sent to', () =>
    withUserspace(async (under, namespace) => {
      dns(under);
      await under.sync();
      await serving(
        namespace,
        async () => {
          assert.equal(await ask(namespace, '10.96.0.2', 53, 'UDP'), '10.244.1.1');
          assert.equal(await ask(namespace, '192.168.0.2', 30053, 'UDP'), '10.244.1.1');
          assert.equal(await ask(namespace, '127.0.0.1', 30053, 'UDP'), '10.244.1.1');
        },
        'UDP',
      );
    }));

  test('USER-15 a datagram as large as there can be passes whole', () =>
    withUserspace(async (under, namespace) => {
      dns(under);
      await under.sync();
      const server = bindUdp(namespace, ip('10.244.1.1'), 5353);
      server.on('message', (message, { port, address }) => server.send(message, port, address));
      const client = bindUdp(namespace, ip('192.168.0.2'), 0);
      try {
        const sent = Buffer.alloc(60_000, 'x');
        const answer = new Promise<number>(resolve => client.on('message', message => resolve(message.length)));
        client.send(sent, 53, '10.96.0.2');
        assert.equal(await answer, sent.length);
      } finally {
        client.close();
        server.close();
      }
    }));

  test('USER-15 a client that is silent for the idle time-out is forgotten, and one that is not stays', async () => {
    const clock = new ManualClock();
    await withUserspace(
      async (under, namespace) => {
        dns(under);
        await under.sync();
        await serving(
          namespace,
          async () => {
            const client = bindUdp(namespace, ip('192.168.0.2'), 0);
            const send = async () => {
              const answer = once(client, 'message');
              client.send('?', 53, '10.96.0.2');
              await answer;
            };
            try {
              await send();
              assert.equal(under.mode.udpClients, 1);
              await clock.advance(200);
              await send();
              await clock.advance(200);
              assert.equal(under.mode.udpClients, 1);
              await clock.advance(50);
              assert.equal(under.mode.udpClients, 0);
            } finally {
              client.close();
            }
          },
          'UDP',
        );
      },
      { clock },
    );
  });

  test('USER-16 when its endpoint is gone, a client that goes on sending gets another', () =>
    withUserspace(
      async (under, namespace) => {
        dns(under, '10.96.0.2', ['10.244.1.1']);
        await under.sync();
        await serving(
          namespace,
          async () => {
            const client = bindUdp(namespace, ip('192.168.0.2'), 0);
            const got: string[] = [];
            client.on('message', message => got.push(String(message).split(' ')[0] ?? ''));
            const send = async () => {
              const before = got.length;
              client.send('?', 53, '10.96.0.2');
              assert.ok(await until(() => got.length > before, 1000));
            };
            try {
              await send();
              dns(under, '10.96.0.2', ['10.244.1.2']);
              await under.sync();
              await send();
              assert.deepEqual(got, ['10.244.1.1', '10.244.1.2']);
              under.deleteService('default/dns');
              await under.sync();
              assert.equal(under.mode.udpClients, 0);
              dns(under, '10.96.0.2', ['10.244.1.3']);
              await under.sync();
              await send();
              assert.deepEqual(got.at(-1), '10.244.1.3', 'the kernel does not remember the former proxy port');
            } finally {
              client.close();
            }
          },
          'UDP',
        );
      },
      { udpIdleTimeoutMs: 60_000 },
    ));

  test('USER-13 an endpoint that refuses datagrams is left alone', () =>
    withUserspace(async (under, namespace) => {
      dns(under, '10.96.0.2', ['10.244.1.1', '10.244.1.9']);
      await under.sync();
      await serving(
        namespace,
        async () => {
          await ask(namespace, '10.96.0.2', 53, 'UDP');
          assert.equal(await ask(namespace, '10.96.0.2', 53, 'UDP'), '10.244.1.1');
        },
        'UDP',
        ['10.244.1.1'],
      );
    }));
});

describe('ports', () => {
  test('USER-4 proxies listen at ports of the range, and a Service that gets none is set aside until there is one', () =>
    withUserspace(
      async (under, namespace) => {
        web(under);
        under.set(service('more', { clusterIP: '10.96.0.3' }), slice('more-1', PODS));
        under.set(service('most', { clusterIP: '10.96.0.4' }), slice('most-1', PODS));
        await under.sync();
        assert.ok([40100, 40101].includes(under.proxyPort('KUBE-PORTALS-CONTAINER', 'default/web')));
        assert.deepEqual(
          under.mode.setAside().map(({ servicePort }) => servicePort),
          ['default/most'],
        );
        assert.match(under.refused[0]?.error ?? '', /no ports remaining in the port range 40100-40101/);
        under.deleteService('default/more');
        await under.sync();
        await under.mode.settle();
        assert.deepEqual(under.mode.setAside(), []);
        await serving(namespace, async () => {
          assert.equal(await ask(namespace, '10.96.0.4', 80), PODS.join(' '));
        });
      },
      { portRange: { first: 40100, last: 40101 } },
    ));

  test('USER-5 nobody else can listen at a claimed port, and where it is not redirected it is refused', () =>
    withUserspace(async (under, namespace) => {
      web(under);
      const restricted = { family: 'IPv4', matchAll: false, cidrs: [], containsIPv4Loopback: false } as const;
      await under.sync({ nodePortAddresses: restricted, nodePortIPs: [ip('192.168.0.2')] });
      await assert.rejects(
        listenTcp(namespace, ip('192.168.0.2'), 30080, () => {}),
        /EADDRINUSE/,
      );
      assert.equal(await ask(namespace, '10.244.1.5', 30080), 'refused');
      await under.sync();
      await assert.rejects(
        listenTcp(namespace, ip('10.244.1.5'), 30080, () => {}),
        /EADDRINUSE/,
      );
      under.deleteService('default/web');
      await under.sync();
      const server = await listenTcp(namespace, ip('192.168.0.2'), 30080, () => {});
      await new Promise(resolve => server.close(resolve));
    }));

  test('USER-5 a node port that another program has is not taken from it; the rest of the Service is served', () =>
    withUserspace(async (under, namespace) => {
      const server = await listenTcp(namespace, ip('0.0.0.0'), 30080, connection => connection.end('mine 0 0'));
      web(under);
      await under.sync();
      await serving(namespace, async () => {
        assert.equal(await ask(namespace, '192.168.0.2', 30080), 'mine');
        assert.equal(await ask(namespace, '10.96.0.1', 80), '10.244.1.1 10.244.1.2');
        assert.match(under.mode.setAside()[0]?.error ?? '', /30080: EADDRINUSE.*another program has it/);
        assert.equal(under.refused.length, 1);
        await new Promise(resolve => server.close(resolve));
        await under.mode.settle();
        assert.deepEqual(under.mode.setAside(), []);
        assert.equal(await ask(namespace, '192.168.0.2', 30080), '10.244.1.1 10.244.1.2');
      });
    }));

  test("USER-5 an external IP that is this machine's own is claimed too, also beside a node port of that number", () =>
    withUserspace(async (under, namespace) => {
      under.set(
        service('web', { externalIPs: ['192.168.0.2'], ports: [{ port: 30080, nodePort: 30080 }] }),
        slice('web-1', PODS),
      );
      await under.sync();
      assert.deepEqual(under.mode.setAside(), []);
      await assert.rejects(
        listenTcp(namespace, ip('192.168.0.2'), 30080, () => {}),
        /EADDRINUSE/,
      );
    }));

  test('USER-17 SCTP is set aside', () =>
    withUserspace(async under => {
      under.set(service('s', { ports: [{ protocol: 'SCTP' }] }));
      await under.sync();
      assert.deepEqual(under.mode.setAside(), [
        { family: 'IPv4', servicePort: 'default/s', error: 'SCTP cannot be proxied in userspace mode' },
      ]);
      under.deleteService('default/s');
      await under.sync();
      assert.deepEqual(under.mode.setAside(), []);
    }));

  test('USER-4 a loopback address to listen at is refused', () => {
    const events = { progress() {}, setAside() {}, driftRepaired() {}, measured() {}, noticed() {}, failed() {} };
    assert.throws(() => new UserspaceMode({ events, listenIP: ip('127.0.0.1') }), /cannot proxy on localhost/);
  });

  test('USER-4 with an address to listen at, proxies are there only', () =>
    withUserspace(
      async (under, namespace) => {
        web(under);
        await under.sync();
        await serving(namespace, async () => {
          assert.equal(await ask(namespace, '10.96.0.1', 80), '10.244.1.1 10.244.1.2');
        });
        const port = under.proxyPort('KUBE-PORTALS-HOST');
        assert.ok(under.rules().some(line => line.endsWith(`DNAT --to-destination 10.244.1.4:${port}`)));
        const free = await listenTcp(namespace, ip('10.244.1.5'), port, () => {});
        await new Promise(resolve => free.close(resolve));
      },
      { listenIP: ip('10.244.1.4') },
    ));
});

describe('the end', () => {
  test('USER-20 nothing stays open, and portals refuse', () =>
    withUserspace(async (under, namespace) => {
      const before = readdirSync('/proc/self/fd').length;
      const other = new UserspaceUnderTest(namespace);
      web(other);
      dns(other);
      await other.sync();
      await serving(namespace, async () => {
        assert.equal(await ask(namespace, '10.96.0.1', 80), '10.244.1.1 10.244.1.2');
        await other.mode.close();
        assert.equal(await ask(namespace, '10.96.0.1', 80), 'refused');
        assert.equal(await ask(namespace, '192.168.0.2', 30080), 'refused');
        assert.equal(await ask(namespace, '10.96.0.2', 53, 'UDP'), 'EPERM', 'so is the sender itself told');
      });
      await new Promise(resolve => setImmediate(resolve));
      assert.equal(readdirSync('/proc/self/fd').length, before);
      assert.deepEqual(other.told, []);
      assert.deepEqual(under.told, []);
    }));

  test('USER-20 a process that has nothing to do with it can use the ports again', () =>
    withUserspace(async (under, namespace) => {
      web(under);
      await under.sync();
      const port = under.proxyPort('KUBE-PORTALS-CONTAINER');
      await under.mode.close();
      const server = await listenTcp(namespace, ip('0.0.0.0'), port, () => {});
      assert.ok(server instanceof createServer().constructor);
      await new Promise(resolve => server.close(resolve));
    }));
});
