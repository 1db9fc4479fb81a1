import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { Cluster } from '../../src/demo/playground/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { listenTcp, openBound } from '../../src/kernel/sockets/index.ts';
import { writeSysctl } from '../../src/kernel/sysctl.ts';
import { IptablesMode } from '../../src/modes/iptables/index.ts';
import type { Mode, ModeEvents } from '../../src/modes/mode.ts';
import { NftablesMode } from '../../src/modes/nftables/index.ts';
import { FAMILIES, type Family, type Ip } from '../../src/net/index.ts';
import { ModeHarness } from '../support/mode-harness.ts';
import { service, slice } from '../support/objects.ts';
import { waitFor } from '../support/wait-for.ts';

const SERVICES: Readonly<Record<Family, { local: Ip; remote: Ip; any: Ip }>> = {
  IPv4: { local: '10.96.0.1' as Ip, remote: '10.96.0.2' as Ip, any: '0.0.0.0' as Ip },
  IPv6: { local: 'fd00:10:96::1' as Ip, remote: 'fd00:10:96::2' as Ip, any: '::' as Ip },
};
const PODS: Readonly<Record<Family, { local: Ip; remote: Ip }>> = {
  IPv4: { local: '10.244.1.10' as Ip, remote: '10.244.2.10' as Ip },
  IPv6: { local: 'fd00:10:244:1::10' as Ip, remote: 'fd00:10:244:2::10' as Ip },
};
/** The addresses of the node that endpoints see: those of the interfaces to them. */
const SEEN = {
  IPv4: { local: '10.244.1.1', remote: '192.168.0.2' },
  IPv6: { local: 'fd00:10:244:1::1', remote: 'fd00:192:168::2' },
} as const;
const SECOND_ADDRESS = '192.168.0.50' as Ip;
const NODE_PORT = 30_080;

interface Connection {
  readonly from: NetworkNamespace;
  readonly source: Ip;
  readonly sourcePort: number;
  readonly to: Ip;
  readonly port?: number;
}

/** Opens a connection whose endpoint sends what it sees as the source: address and port. */
async function open({ from, source, sourcePort, to, port = 80 }: Connection): Promise<Socket> {
  const family = to.includes(':') ? 'IPv6' : 'IPv4';
  const socket = new Socket({ fd: openBound(from, family, 'TCP', source, sourcePort, { reuse: true }) });
  socket.connect({ host: to, port });
  await once(socket, 'connect');
  return socket;
}

async function seenBy(connection: Connection): Promise<string> {
  return text(await open(connection));
}

let nextPort = 40_000;

for (const [name, rule] of [
  ['nftables', 'NFT-56'],
  ['iptables', 'IPT-19'],
] as const) {
  describe(`source ports in ${name} mode`, { concurrency: false }, () => {
    let cluster: Cluster;
    let harness: ModeHarness<Mode>;
    const closers: (() => unknown)[] = [];

    function createMode(keepNodeSourcePorts: boolean): (events: ModeEvents) => Mode {
      const Kind = name === 'nftables' ? NftablesMode : IptablesMode;
      return events => new Kind({ namespace: cluster.node, events, keepNodeSourcePorts });
    }

    /** Connections of the node from a port of its own each. Returns how many of them kept their port. */
    async function keptOf(count: number, connection: Partial<Connection>): Promise<number> {
      let kept = 0;
      for (let i = 0; i < count; i++) {
        const sourcePort = nextPort++;
        const all = { from: cluster.node, source: '0.0.0.0' as Ip, to: SERVICES.IPv4.local, ...connection, sourcePort };
        if ((await seenBy(all)).endsWith(` ${sourcePort}`)) kept++;
      }
      return kept;
    }

    before(async () => {
      cluster = Cluster.create();
      closers.push(() => cluster.close());
      for (const family of FAMILIES) {
        for (const pod of Object.values(PODS[family])) {
          const server = await listenTcp(cluster.addPod(pod), pod, 8080, peer => {
            // A caller that resets its connection needs no answer.
            peer.on('error', () => undefined);
            peer.end(`${peer.remoteAddress} ${peer.remotePort}`);
          });
          closers.push(() => server.close());
        }
      }
      harness = new ModeHarness<Mode>(createMode(true), { families: FAMILIES });
      for (const family of FAMILIES) {
        for (const place of ['local', 'remote'] as const) {
          const id = `${place}-${family.toLowerCase()}`;
          const ports = place === 'local' && family === 'IPv4' ? [{ nodePort: NODE_PORT }] : [{}];
          harness.set(
            service(id, { clusterIP: SERVICES[family][place], ports, type: 'NodePort' }),
            slice(`${id}-1`, [{ ip: PODS[family][place], nodeName: place === 'local' ? 'node-a' : 'node-b' }]),
          );
        }
      }
      await harness.sync();
    });

    after(async () => {
      await harness?.close();
      for (const close of closers.reverse()) await close();
    });

    for (const family of FAMILIES) {
      for (const place of ['local', 'remote'] as const) {
        test(`${rule} a ${place} ${family} endpoint sees the address of the interface to it, and the caller's port`, async () => {
          const sourcePort = nextPort++;
          const { any, [place]: to } = SERVICES[family];
          const seen = await seenBy({ from: cluster.node, source: any, sourcePort, to });
          assert.equal(seen, `${SEEN[family][place]} ${sourcePort}`);
        });
      }
    }

    test(`${rule} an endpoint accepts a port at once that it still has in TIME_WAIT`, async () => {
      const pod = cluster.addPod(PODS.IPv4.local);
      // Machines of the playground keep nothing in TIME_WAIT by default.
      writeSysctl('net/ipv4/tcp_max_tw_buckets', 1000, pod);
      const connection = {
        from: cluster.node,
        source: '0.0.0.0' as Ip,
        sourcePort: nextPort++,
        to: SERVICES.IPv4.local,
      };
      for (let i = 0; i < 5; i++) {
        assert.equal(await seenBy(connection), `10.244.1.1 ${connection.sourcePort}`);
        await waitFor('the endpoint has the connection in TIME_WAIT', () => waiting(pod) > 0);
      }
      assert.equal(rejectedInTimeWait(pod), 0);
    });

    test(`${rule} of two connections with the same source port at the same time, one gets another port`, async () => {
      cluster.addNodeAddress(SECOND_ADDRESS);
      const common = { from: cluster.node, sourcePort: nextPort++, to: SERVICES.IPv4.local };
      const first = await open({ ...common, source: '192.168.0.2' as Ip });
      const second = await open({ ...common, source: SECOND_ADDRESS });
      const seen = [await text(first), await text(second)];
      assert.equal(seen[0], `10.244.1.1 ${common.sourcePort}`);
      assert.match(seen[1] ?? '', /^10\.244\.1\.1 \d+$/);
      assert.notEqual(seen[1], seen[0]);
    });

    test(`${rule} a secondary address of the node is masqueraded too`, async () => {
      const sourcePort = nextPort++;
      const { remote: to } = SERVICES.IPv4;
      const seen = await seenBy({ from: cluster.node, source: SECOND_ADDRESS, sourcePort, to });
      assert.equal(seen, `192.168.0.2 ${sourcePort}`);
    });

    if (name === 'iptables') {
      test(`${rule} a connection from loopback to a node port leaves with the node's address`, async () => {
        const sourcePort = nextPort++;
        const loopback = '127.0.0.1' as Ip;
        const connection = { from: cluster.node, source: loopback, sourcePort, to: loopback, port: NODE_PORT };
        assert.equal(await seenBy(connection), `10.244.1.1 ${sourcePort}`);
      });
    }

    test(`${rule} connections from outside get random ports`, async () => {
      const from = cluster.host('ext');
      assert.ok((await keptOf(4, { from, to: '192.168.0.2' as Ip, port: NODE_PORT })) < 4);
    });

    test(`${rule} without the flag, connections of node processes get random ports`, async () => {
      assert.equal(await keptOf(4, {}), 4);
      await harness.restart(createMode(false));
      assert.ok((await keptOf(4, {})) < 4);
      await harness.restart(createMode(true));
      assert.equal(await keptOf(4, {}), 4);
    });
  });
}

function waiting(namespace: NetworkNamespace): number {
  const sockets = namespace.run(() => readFileSync('/proc/thread-self/net/sockstat', 'utf8'));
  return Number(/^TCP:.* tw (\d+)/m.exec(sockets)?.[1]);
}

function rejectedInTimeWait(namespace: NetworkNamespace): number {
  const lines = namespace.run(() => readFileSync('/proc/thread-self/net/netstat', 'utf8')).split('\n');
  const [names = [], values = []] = lines.filter(line => line.startsWith('TcpExt:')).map(line => line.split(' '));
  return Number(values[names.indexOf('PAWSTimewait')] ?? assert.fail('the kernel has no counter PAWSTimewait'));
}
