import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, test } from 'node:test';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { runIn } from '../../../test/support/run-in.ts';
import { UserspaceHarness, withUserspace } from '../../../test/support/userspace-mode.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { EchoServer, probe } from '../../demo/playground/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { bindUdp, listenTcp } from '../../kernel/sockets/index.ts';
import type { Ip } from '../../net/index.ts';
import { SILENT_EVENTS } from '../mode.ts';
import { setAsideName } from '../set-aside.ts';
import { cleanupUserspace } from './cleanup.ts';
import { UserspaceMode } from './mode.ts';

const ip = (text: string) => text as Ip;
const PODS = ['10.244.1.1', '10.244.1.2', '10.244.1.3'];

/** A Service `web` at 10.96.0.1:80 with node port 30080 and two endpoints. */
function addWeb(harness: UserspaceHarness, pods: readonly string[] = PODS.slice(0, 2)): void {
  harness.set(service('web', { type: 'NodePort', ports: [{ nodePort: 30080 }] }), slice('web-1', pods));
}

function addDns(harness: UserspaceHarness, clusterIP = '10.96.0.2', pods: readonly string[] = PODS.slice(0, 1)): void {
  const ports = [{ name: '', protocol: 'UDP', port: 5353 }] as const;
  harness.set(
    service('dns', { type: 'NodePort', clusterIP, ports: [{ protocol: 'UDP', port: 53, nodePort: 30053 }] }),
    slice('dns-1', pods, { ports }),
  );
}

/** The addresses of the endpoints that answer, or how the connection fails. */
async function ask(
  namespace: NetworkNamespace,
  address: string,
  port: number,
  protocol: 'TCP' | 'UDP' = 'TCP',
): Promise<string> {
  const { answers, failures } = await probe(namespace, ip(address), port, protocol, { tries: 6, timeoutMs: 500 });
  const endpoints = [...answers.keys()].map(answer => answer.split(' ')[0]).sort();
  return [...endpoints, ...failures].join(' ');
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
  test('USER-1 chains and jumps are those of the old mode, and only new connections go through our own chain', () =>
    withUserspace(async harness => {
      addWeb(harness);
      await harness.sync();
      const jumps = (table: 'nat' | 'filter') => harness.rules(table).filter(line => !line.startsWith('-A KUBE-'));
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

  test('USER-2 connections from outside are redirected, and those of the node go to its address', () =>
    withUserspace(async harness => {
      addWeb(harness);
      await harness.sync();
      const port = harness.proxyPort('KUBE-PORTALS-CONTAINER');
      const at = '-d 10.96.0.1/32 -p tcp -m comment --comment "default/web" -m tcp --dport 80';
      const rules = harness.rules();
      assert.ok(rules.includes(`-A KUBE-PORTALS-CONTAINER ${at} -j REDIRECT --to-ports ${port}`));
      assert.ok(rules.includes(`-A KUBE-PORTALS-HOST ${at} -j DNAT --to-destination 192.168.0.2:${port}`));
    }));

  test('USER-1 a change of a Service writes only its rules', () =>
    withUserspace(async harness => {
      addWeb(harness);
      addDns(harness);
      await harness.sync();
      const before = harness.rules();
      harness.set(slice('web-1', PODS));
      await harness.sync();
      assert.deepEqual(harness.rules(), before, 'rules do not contain endpoints');
      harness.set(service('web', { clusterIP: '10.96.0.9' }));
      await harness.sync();
      const after = harness.rules();
      assert.deepEqual(
        after.filter(line => line.includes('default/dns')),
        before.filter(line => line.includes('default/dns')),
      );
      assert.ok(!after.some(line => line.includes('10.96.0.1/32') || line.includes('30080')));
      assert.ok(after.some(line => line.includes('10.96.0.9/32')));
      harness.deleteService('default/web');
      harness.deleteService('default/dns');
      await harness.sync();
      assert.deepEqual(
        [...harness.rules(), ...harness.rules('filter')].filter(line => line.startsWith('-A KUBE-')),
        [],
      );
    }));

  test('USER-1 a new process replaces the rules of the one before, and does not move or repeat jumps', () =>
    withUserspace(async (harness, namespace) => {
      addWeb(harness);
      await harness.sync();
      runIn(namespace, 'iptables', ['-t', 'nat', '-A', 'KUBE-PORTALS-HOST', '-j', 'ACCEPT']);
      runIn(namespace, 'iptables', ['-t', 'nat', '-I', 'OUTPUT', '-j', 'RETURN']);
      const jumps = () =>
        harness.rules().filter(line => line.startsWith('-A OUTPUT') || line.startsWith('-A PREROUTING'));
      const before = jumps();
      const next = new UserspaceHarness(namespace, { drainMs: 0 });
      addWeb(next);
      await next.sync();
      assert.deepEqual(jumps(), before);
      assert.ok(!next.rules().includes('-A KUBE-PORTALS-HOST -j ACCEPT'));
      assert.equal(next.rules().filter(line => line.startsWith('-A KUBE-PORTALS-HOST')).length, 1);
      await next.close();
    }));

  test('USER-1 the mode serves both families, with the programs of both backends', async () => {
    for (const backend of ['nf_tables', 'legacy'] as const) {
      await withUserspace(
        async (harness, namespace) => {
          const clusterIPs = { clusterIPs: ['10.96.0.1', 'fd00:10:96::1'], ipFamilies: ['IPv4', 'IPv6'] };
          harness.set(service('web', clusterIPs), slice('web-1', ['10.244.1.1']), slice('web-2', ['fd00:10:244:1::1']));
          await harness.sync({}, ['IPv4', 'IPv6']);
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
        { programs: { backend } },
      );
    }
  });

  test('USER-6 a check repairs rules that another program changed', () =>
    withUserspace(async (harness, namespace) => {
      addWeb(harness);
      await harness.sync();
      await harness.lookForDrift();
      const before = harness.rules();
      const drifts: [string, readonly string[]][] = [
        ['chain KUBE-PORTALS-HOST was changed', ['-t', 'nat', '-F', 'KUBE-PORTALS-HOST']],
        ['chain KUBE-PORTALS-HOST was changed', ['-t', 'nat', '-I', 'KUBE-PORTALS-HOST', '-j', 'RETURN']],
        ['the jump from OUTPUT to KUBE-PORTALS-HOST is missing', ['-t', 'nat', '-D', 'OUTPUT', '1']],
      ];
      for (const [cause, command] of drifts) {
        await harness.lookForDrift();
        harness.events.lines.length = 0;
        runIn(namespace, 'iptables', command);
        await harness.lookForDrift();
        assert.deepEqual(harness.events.lines, [`repaired: ${cause}; wrote all rules again`]);
        assert.deepEqual(harness.rules(), before);
      }
      harness.events.lines.length = 0;
      harness.set(service('other', { clusterIP: '10.96.0.7' }), slice('other-1', PODS));
      await harness.sync();
      runIn(namespace, 'iptables', ['-t', 'nat', '-F', 'KUBE-PORTALS-CONTAINER']);
      await harness.lookForDrift();
      assert.deepEqual(harness.events.lines, [
        'repaired: chain KUBE-PORTALS-CONTAINER has 0 rules instead of 2; wrote all rules again',
      ]);
    }));

  test('USER-6 a changed sync period takes effect at once', async () => {
    const clock = new ManualClock();
    await withUserspace(
      async (harness, namespace) => {
        addWeb(harness);
        await harness.sync({ syncPeriodMs: 3_600_000 });
        await harness.sync({ syncPeriodMs: 100 });
        runIn(namespace, 'iptables', ['-t', 'nat', '-F', 'KUBE-PORTALS-HOST']);
        await clock.advance(100);
        await waitFor(
          'the mode repairs the rules',
          () => harness.events.lines.some(line => line.startsWith('repaired')),
          { timeoutMs: 5000 },
        );
      },
      { clock },
    );
  });

  test('USER-21 cleanup removes the chains and jumps of both families and nothing else, and can run twice', () =>
    withUserspace(async (harness, namespace) => {
      addWeb(harness);
      await harness.sync({}, ['IPv4', 'IPv6']);
      runIn(namespace, 'iptables', ['-t', 'nat', '-A', 'OUTPUT', '-j', 'RETURN']);
      const { removed, errors } = await cleanupUserspace({ namespace });
      assert.deepEqual(errors, []);
      assert.equal(removed.length, 12);
      assert.deepEqual([...harness.rules(), ...harness.rules('filter')], ['-A OUTPUT -j RETURN']);
      assert.ok(!runIn(namespace, 'iptables-save', []).includes('KUBE-'));
      assert.deepEqual({ ...(await cleanupUserspace({ namespace })) }, { removed: [], errors: [], kept: [] });
    }));
});

describe('TCP', () => {
  test('USER-7 connections to a portal reach the endpoints in turns', () =>
    withUserspace(async (harness, namespace) => {
      addWeb(harness);
      await harness.sync();
      await serving(namespace, async () => {
        assert.equal(await ask(namespace, '10.96.0.1', 80), '10.244.1.1 10.244.1.2');
        assert.equal(await ask(namespace, '192.168.0.2', 30080), '10.244.1.1 10.244.1.2');
        assert.equal(await ask(namespace, '127.0.0.1', 30080), '10.244.1.1 10.244.1.2');
      });
    }));

  test('USER-7 ports of one Service are separate, even TCP and UDP with the same number', () =>
    withUserspace(async (harness, namespace) => {
      const ports = [
        { name: 'p', protocol: 'TCP', port: 53 },
        { name: 'q', protocol: 'UDP', port: 53 },
        { name: 'r', protocol: 'TCP', port: 54 },
      ] as const;
      const targets = [
        { name: 'p', protocol: 'TCP', port: 8080 },
        { name: 'q', protocol: 'UDP', port: 5353 },
      ] as const;
      harness.set(service('multi', { ports }), slice('multi-1', ['10.244.1.1'], { ports: targets }));
      await harness.sync();
      await serving(namespace, () =>
        serving(
          namespace,
          async () => {
            assert.equal(await ask(namespace, '10.96.0.1', 53), '10.244.1.1');
            assert.equal(await ask(namespace, '10.96.0.1', 53, 'UDP'), '10.244.1.1');
            assert.equal(await ask(namespace, '10.96.0.1', 54), 'refused', 'no endpoint has the port');
          },
          'UDP',
        ),
      );
      const names = harness.mode.counters().map(({ service, port, protocol }) => `${service} ${port} ${protocol}`);
      assert.deepEqual(names, ['default/multi p TCP', 'default/multi q UDP', 'default/multi r TCP']);
    }));

  test('USER-8 portals follow a Service that is deleted, changed, made headless or created again', () =>
    withUserspace(async (harness, namespace) => {
      addWeb(harness);
      await harness.sync();
      await serving(namespace, async () => {
        assert.equal(await ask(namespace, '10.96.0.1', 80), '10.244.1.1 10.244.1.2');
        const port = harness.proxyPort('KUBE-PORTALS-CONTAINER');
        harness.deleteService('default/web');
        await harness.sync();
        assert.equal(await ask(namespace, '192.168.0.2', port), 'refused', 'the proxy port is closed');
        assert.deepEqual(harness.mode.counters(), []);
        addWeb(harness);
        await harness.sync();
        assert.equal(await ask(namespace, '10.96.0.1', 80), '10.244.1.1 10.244.1.2', 'endpoints are still known');
        harness.set(service('web', { ports: [{ port: 99 }] }));
        await harness.sync();
        assert.equal(await ask(namespace, '10.96.0.1', 99), '10.244.1.1 10.244.1.2');
        harness.set(service('web', { externalIPs: ['198.51.100.7'] }));
        await harness.sync();
        assert.equal(await ask(namespace, '198.51.100.7', 80), '10.244.1.1 10.244.1.2');
        for (const clusterIP of ['', 'None']) {
          harness.set(service('web', { clusterIP }));
          await harness.sync();
          assert.deepEqual(harness.mode.counters(), []);
          assert.ok(!harness.rules().some(line => line.includes('default/web')));
        }
        addWeb(harness);
        await harness.sync();
        assert.equal(await ask(namespace, '10.96.0.1', 80), '10.244.1.1 10.244.1.2');
      });
    }));

  test('USER-9 a proxy port refuses connections that bypass the portal', () =>
    withUserspace(async (harness, namespace) => {
      addWeb(harness);
      await harness.sync();
      await serving(namespace, async () => {
        const port = harness.proxyPort('KUBE-PORTALS-CONTAINER');
        assert.equal(await ask(namespace, '192.168.0.2', port), 'refused');
        assert.equal(await ask(namespace, '127.0.0.1', port), 'refused');
      });
    }));

  test('USER-11 with affinity a client keeps its endpoint', () =>
    withUserspace(async (harness, namespace) => {
      harness.set(service('web', { sessionAffinity: 'ClientIP' }), slice('web-1', PODS));
      await harness.sync();
      await serving(namespace, async () => {
        const first = await ask(namespace, '10.96.0.1', 80);
        assert.ok(PODS.includes(first), first);
        assert.equal(await ask(namespace, '10.96.0.1', 80), first);
      });
    }));

  test('USER-14 TRAFFIC-8 the mode counts connections, bytes and failures of each service port', () =>
    withUserspace(async (harness, namespace) => {
      addWeb(harness, ['10.244.1.1', '10.244.1.9']);
      await harness.sync();
      await serving(namespace, async () => {
        assert.equal(await ask(namespace, '10.96.0.1', 80), '10.244.1.1', 'the other endpoint refuses and is avoided');
      });
      await waitFor('the number of TCP connections is as expected', () => harness.mode.tcpConnections === 0, {
        timeoutMs: 2000,
      });
      const [counters] = harness.mode.counters();
      assert.ok(counters);
      assert.ok(counters.connections >= 6);
      assert.deepEqual(await harness.mode.connectionCounts(), new Map([[counters.service, counters.connections]]));
      assert.equal(counters.dialFailures, 1);
      assert.equal(counters.failures, 0);
      assert.equal(counters.active, 0);
      assert.equal(counters.bytesIn, 0);
      assert.equal(counters.bytesOut, counters.connections * '10.244.1.1 8080 10.244.1.1'.length);
      const [traffic] = await harness.mode.traffic();
      const { connections, bytesOut: bytes } = counters;
      assert.deepEqual([traffic?.connections, traffic?.bytes, traffic?.rejected], [connections, bytes, 0]);
      assert.deepEqual(traffic?.endpoints?.get('10.244.1.1:8080'), { connections, active: 0, bytes });
      assert.equal(traffic?.endpoints?.get('10.244.1.9:8080')?.connections, 0);
    }));
});

describe('UDP', () => {
  test('USER-15 datagrams reach an endpoint, and answers come from the address to which the client sent', () =>
    withUserspace(async (harness, namespace) => {
      addDns(harness);
      await harness.sync();
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

  test('USER-15 a large datagram passes whole', () =>
    withUserspace(async (harness, namespace) => {
      addDns(harness);
      await harness.sync();
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

  test('USER-15 a client is forgotten after the idle timeout, and not before', async () => {
    const clock = new ManualClock();
    await withUserspace(
      async (harness, namespace) => {
        addDns(harness);
        await harness.sync();
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
              assert.equal(harness.mode.udpClients, 1);
              await clock.advance(200);
              await send();
              await clock.advance(200);
              assert.equal(harness.mode.udpClients, 1);
              await clock.advance(50);
              assert.equal(harness.mode.udpClients, 0);
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

  test('USER-16 a client whose endpoint is gone gets another one with its next datagram', () =>
    withUserspace(
      async (harness, namespace) => {
        addDns(harness, '10.96.0.2', ['10.244.1.1']);
        await harness.sync();
        await serving(
          namespace,
          async () => {
            const client = bindUdp(namespace, ip('192.168.0.2'), 0);
            const got: string[] = [];
            client.on('message', message => got.push(String(message).split(' ')[0] ?? ''));
            const send = async () => {
              const before = got.length;
              client.send('?', 53, '10.96.0.2');
              await waitFor('the answer arrives', () => got.length > before, { timeoutMs: 1000 });
            };
            try {
              await send();
              addDns(harness, '10.96.0.2', ['10.244.1.2']);
              await harness.sync();
              await send();
              assert.deepEqual(got, ['10.244.1.1', '10.244.1.2']);
              harness.deleteService('default/dns');
              await harness.sync();
              assert.equal(harness.mode.udpClients, 0);
              addDns(harness, '10.96.0.2', ['10.244.1.3']);
              await harness.sync();
              await send();
              assert.deepEqual(got.at(-1), '10.244.1.3', 'the flow to the former proxy port is removed');
            } finally {
              client.close();
            }
          },
          'UDP',
        );
      },
      { udpIdleTimeoutMs: 60_000 },
    ));

  test('USER-13 an endpoint that refuses datagrams is avoided', () =>
    withUserspace(async (harness, namespace) => {
      addDns(harness, '10.96.0.2', ['10.244.1.1', '10.244.1.9']);
      await harness.sync();
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
  test('USER-4 proxies listen at ports of the range, and a Service that gets no port is set aside until there is one', () =>
    withUserspace(
      async (harness, namespace) => {
        addWeb(harness);
        harness.set(service('more', { clusterIP: '10.96.0.3' }), slice('more-1', PODS));
        harness.set(service('most', { clusterIP: '10.96.0.4' }), slice('most-1', PODS));
        await harness.sync();
        assert.ok([40100, 40101].includes(harness.proxyPort('KUBE-PORTALS-CONTAINER', 'default/web')));
        assert.deepEqual(harness.setAside().map(setAsideName), ['default/most']);
        assert.match(
          harness.events.setAsides[0]?.cause.message ?? '',
          /no ports remaining in the port range 40100-40101/,
        );
        harness.deleteService('default/more');
        await harness.sync();
        await harness.lookForDrift();
        assert.deepEqual(harness.setAside(), []);
        await serving(namespace, async () => {
          assert.equal(await ask(namespace, '10.96.0.4', 80), PODS.join(' '));
        });
      },
      { portRange: { first: 40100, last: 40101 } },
    ));

  test('USER-5 no other program can listen at a reserved port, and connections that bypass the rules are refused', () =>
    withUserspace(async (harness, namespace) => {
      addWeb(harness);
      const restricted = {
        family: 'IPv4',
        matchAll: false,
        cidrs: [],
        containsIPv4Loopback: false,
        containsExplicitLoopback: false,
      } as const;
      await harness.sync({ nodePortAddresses: restricted, nodePortIPs: [ip('192.168.0.2')] });
      await assert.rejects(
        listenTcp(namespace, ip('192.168.0.2'), 30080, () => {}),
        /EADDRINUSE/,
      );
      assert.equal(await ask(namespace, '10.244.1.5', 30080), 'refused');
      await harness.sync();
      await assert.rejects(
        listenTcp(namespace, ip('10.244.1.5'), 30080, () => {}),
        /EADDRINUSE/,
      );
      harness.deleteService('default/web');
      await harness.sync();
      const server = await listenTcp(namespace, ip('192.168.0.2'), 30080, () => {});
      await new Promise(resolve => server.close(resolve));
    }));

  test('USER-5 a node port that another program has is left to it, and the rest of the Service is served', () =>
    withUserspace(async (harness, namespace) => {
      const server = await listenTcp(namespace, ip('0.0.0.0'), 30080, connection => connection.end('mine 0 0'));
      addWeb(harness);
      await harness.sync();
      await serving(namespace, async () => {
        assert.equal(await ask(namespace, '192.168.0.2', 30080), 'mine');
        assert.equal(await ask(namespace, '10.96.0.1', 80), '10.244.1.1 10.244.1.2');
        assert.match(harness.setAside()[0]?.cause.message ?? '', /30080: EADDRINUSE.*another program has it/);
        assert.equal(harness.events.setAsides.length, 1);
        await new Promise(resolve => server.close(resolve));
        await harness.lookForDrift();
        assert.deepEqual(harness.setAside(), []);
        assert.equal(await ask(namespace, '192.168.0.2', 30080), '10.244.1.1 10.244.1.2');
      });
    }));

  test('USER-5 a port at an address of this machine is reserved too, even beside a node port with the same number', () =>
    withUserspace(async (harness, namespace) => {
      harness.set(
        service('web', { externalIPs: ['192.168.0.2'], ports: [{ port: 30080, nodePort: 30080 }] }),
        slice('web-1', PODS),
      );
      await harness.sync();
      assert.deepEqual(harness.setAside(), []);
      await assert.rejects(
        listenTcp(namespace, ip('192.168.0.2'), 30080, () => {}),
        /EADDRINUSE/,
      );
    }));

  test('USER-17 an SCTP service port is set aside', () =>
    withUserspace(async harness => {
      harness.set(service('s', { ports: [{ protocol: 'SCTP' }] }));
      await harness.sync();
      assert.deepEqual(harness.setAside(), [
        {
          family: 'IPv4',
          namespace: 'default',
          name: 's',
          port: '',
          protocol: 'SCTP',
          cause: { code: 'UNSUPPORTED', message: 'SCTP cannot be proxied in userspace mode' },
        },
      ]);
      harness.deleteService('default/s');
      await harness.sync();
      assert.deepEqual(harness.setAside(), []);
    }));

  test('USER-4 the mode refuses a loopback address to listen at', () => {
    assert.throws(
      () => new UserspaceMode({ events: SILENT_EVENTS, listenIP: ip('127.0.0.1') }),
      /cannot proxy on localhost/,
    );
  });

  test('USER-4 with an address to listen at, proxies listen only there', () =>
    withUserspace(
      async (harness, namespace) => {
        addWeb(harness);
        await harness.sync();
        await serving(namespace, async () => {
          assert.equal(await ask(namespace, '10.96.0.1', 80), '10.244.1.1 10.244.1.2');
        });
        const port = harness.proxyPort('KUBE-PORTALS-HOST');
        assert.ok(harness.rules().some(line => line.endsWith(`DNAT --to-destination 10.244.1.4:${port}`)));
        const free = await listenTcp(namespace, ip('10.244.1.5'), port, () => {});
        await new Promise(resolve => free.close(resolve));
      },
      { listenIP: ip('10.244.1.4') },
    ));
});

describe('a close', () => {
  test('USER-20 a close leaves nothing open, and portals refuse', () =>
    withUserspace(async (harness, namespace) => {
      const before = readdirSync('/proc/self/fd').length;
      const other = new UserspaceHarness(namespace);
      addWeb(other);
      addDns(other);
      await other.sync();
      await serving(namespace, async () => {
        assert.equal(await ask(namespace, '10.96.0.1', 80), '10.244.1.1 10.244.1.2');
        await other.close();
        assert.equal(await ask(namespace, '10.96.0.1', 80), 'refused');
        assert.equal(await ask(namespace, '192.168.0.2', 30080), 'refused');
        assert.equal(await ask(namespace, '10.96.0.2', 53, 'UDP'), 'EPERM', 'the kernel refuses to send the datagram');
      });
      await new Promise(resolve => setImmediate(resolve));
      assert.equal(readdirSync('/proc/self/fd').length, before);
      assert.deepEqual(other.events.lines, []);
      assert.deepEqual(harness.events.lines, []);
    }));

  test('USER-20 after a close another program can use the proxy port', () =>
    withUserspace(async (harness, namespace) => {
      addWeb(harness);
      await harness.sync();
      const port = harness.proxyPort('KUBE-PORTALS-CONTAINER');
      await harness.close();
      const server = await listenTcp(namespace, ip('0.0.0.0'), port, () => {});
      assert.ok(server instanceof createServer().constructor);
      await new Promise(resolve => server.close(resolve));
    }));
});
