import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { type LocalhostNode, nodePorts, withLocalhostNode } from '../../../../test/support/localhost-node.ts';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { NODE_IP } from '../../../../test/support/namespaces.ts';
import { canonicalRuleset, nft } from '../../../../test/support/nftables-mode.ts';
import { service, slice } from '../../../../test/support/objects.ts';
import { ending } from '../../../../test/support/userspace-faults.ts';
import { waitFor } from '../../../../test/support/wait-for.ts';
import { probe } from '../../../demo/playground/index.ts';
import { bindUdp, connectTcp, connectUdp, listenTcp } from '../../../kernel/sockets/index.ts';
import type { Ip } from '../../../net/index.ts';

const [POD_A, POD_B] = ['10.244.1.10', '10.244.1.11'];
const LOCALHOST = '127.0.0.1' as Ip;

function nodePort(name: string, port: number, spec: Parameters<typeof service>[1] = {}) {
  const clusterIP = `10.96.0.${port - 30_000}`;
  return service(name, { type: 'NodePort', clusterIP, ports: [{ nodePort: port }], ...spec });
}

function udp(name: string, port: number, pods: readonly string[]) {
  const ports = [{ name: '', protocol: 'UDP', port: 8080 }] as const;
  const spec = { ports: [{ protocol: 'UDP', port: 53, nodePort: port }] } as const;
  return [nodePort(name, port, spec), slice(`${name}-1`, pods, { ports })] as const;
}

/** The pods that answer, or how connections fail. */
async function ask(node: LocalhostNode, port: number, protocol: 'TCP' | 'UDP' = 'TCP', ip = LOCALHOST) {
  const { answers, failures } = await probe(node.namespace, ip, port, protocol, { tries: 6, timeoutMs: 3000 });
  return [...Array.from(answers.keys(), answer => answer.split(' ')[0]).sort(), ...failures].join(' ');
}

/** Runs the work with two pods that answer, and an address at which the test itself listens. */
function withNode(work: (node: LocalhostNode) => Promise<void>): Promise<void> {
  return withLocalhostNode(async node => {
    for (const pod of [POD_A, POD_B]) await node.addPod(pod);
    node.addAddress('10.244.1.20');
    await work(node);
  });
}

/** A server at 10.244.1.20:8080 that sends back what it receives. Returns the connections that it accepted. */
async function startEcho(node: LocalhostNode): Promise<readonly Socket[]> {
  const accepted: Socket[] = [];
  const server = await listenTcp(node.namespace, '10.244.1.20' as Ip, 8080, connection => {
    accepted.push(connection);
    connection.on('error', () => {});
    connection.pipe(connection);
  });
  node.onClose(() => {
    for (const connection of accepted) connection.destroy();
    server.close();
  });
  return accepted;
}

async function echo(client: Socket, text: string): Promise<string> {
  client.write(text);
  const [answer] = await once(client, 'data');
  return String(answer);
}

describe('listeners at loopback addresses', () => {
  test('NFT-49 UDP passes in both directions, with datagrams of any size', () =>
    withNode(async node => {
      const mode = node.start();
      mode.set(...udp('dns', 30_053, ['10.244.1.20']));
      await mode.sync();
      const pod = bindUdp(node.namespace, '10.244.1.20' as Ip, 8080);
      pod.on('message', (bytes, { address, port }) => pod.send(bytes, port, address));
      const client = await connectUdp(node.namespace, LOCALHOST, 30_053);
      node.onClose(() => [pod, client].map(socket => socket.close()));
      for (const size of [1, 512, 60_000]) {
        client.send(Buffer.alloc(size, 7));
        const [answer] = await once(client, 'message');
        assert.equal(answer.length, size);
      }
    }));

  test('NFT-49 endpoints take turns, and an endpoint that refuses is left out', () =>
    withNode(async node => {
      const mode = node.start();
      mode.set(nodePort('web', 30_080), slice('web-1', [POD_A, POD_B, '10.244.1.20']));
      await mode.sync();
      const counts = new Map<string, number>();
      for (let i = 0; i < 20; i++) {
        const answer = await ask(node, 30_080);
        for (const pod of answer.split(' ')) counts.set(pod, (counts.get(pod) ?? 0) + 1);
      }
      assert.deepEqual(
        [...counts],
        [
          [POD_A, 20],
          [POD_B, 20],
        ],
      );
    }));

  test('BALANCE-56 the listener balances as the Service asks for', () =>
    withNode(async node => {
      const mode = node.start();
      const share = async (annotations: Record<string, string>) => {
        mode.set(nodePort('web', 30_080, { annotations }), slice('web-1', [POD_A, POD_B]));
        await mode.sync();
        const { answers } = await probe(node.namespace, LOCALHOST, 30_080, 'TCP', { tries: 20, timeoutMs: 3000 });
        return [POD_A, POD_B].map(pod => [...answers].find(([text]) => text.startsWith(`${pod} `))?.[1] ?? 0);
      };
      const weighted = { 'pointsman.dev/balance': 'weighted' };
      assert.deepEqual(await share({ ...weighted, 'pointsman.dev/weights': `${POD_B}=0` }), [20, 0]);
      const [a = 0, b = 0] = await share({ ...weighted, 'pointsman.dev/weights': `${POD_A}=4` });
      assert.ok(a >= 4 * (b - 1) && a <= 4 * (b + 1), `${a} to ${b}`);
      const hashed = await share({ 'pointsman.dev/balance': 'consistent-hash' });
      assert.deepEqual(
        hashed.sort((one, other) => one - other),
        [0, 20],
        'the client has one address',
      );
    }));

  test('NFT-49 the mode refuses connections beyond its limit of descriptors, and serves again when there is room', () =>
    withNode(async node => {
      const mode = node.start('IPv4', undefined, { relay: { maxDescriptors: 3 } });
      await startEcho(node);
      mode.set(nodePort('web', 30_080), slice('web-1', ['10.244.1.20']));
      await mode.sync();
      const first = await connectTcp(node.namespace, LOCALHOST, 30_080);
      assert.equal(await echo(first, 'a'), 'a');
      assert.equal(await ask(node, 30_080), 'ECONNRESET');
      assert.match(mode.events.lines.join(), /proxy a connection to default\/web: .*all 3 descriptors/);
      first.destroy();
      mode.set(slice('web-1', [POD_A]));
      await mode.sync();
      await waitFor('room for a connection', async () => (await ask(node, 30_080)) === POD_A);
    }));

  test('NFT-51 open connections survive changes of other Services and of their own endpoints', () =>
    withNode(async node => {
      const mode = node.start();
      await startEcho(node);
      mode.set(nodePort('web', 30_080), slice('web-1', ['10.244.1.20']));
      mode.set(nodePort('other', 30_081), slice('other-1', [POD_A]));
      await mode.sync();
      const client = await connectTcp(node.namespace, LOCALHOST, 30_080);
      node.onClose(() => client.destroy());
      assert.equal(await echo(client, 'a'), 'a');
      mode.deleteService('default/other');
      mode.set(nodePort('more', 30_082), slice('more-1', [POD_B]));
      await mode.sync();
      assert.equal(await ask(node, 30_081), 'refused');
      assert.equal(await ask(node, 30_082), POD_B);
      assert.equal(await echo(client, 'b'), 'b');
      mode.set(slice('web-1', [POD_A]));
      await mode.sync();
      assert.equal(await ask(node, 30_080), POD_A);
      assert.equal(await echo(client, 'c'), 'c');
      mode.set(nodePort('web', 30_080, { sessionAffinity: 'ClientIP' }));
      await mode.sync();
      assert.equal(await echo(client, 'd'), 'd');
    }));

  const endings: readonly [string, (mode: ReturnType<LocalhostNode['start']>) => void][] = [
    ['its Service is deleted', mode => mode.deleteService('default/web')],
    ['its last endpoint is gone', mode => mode.set(slice('web-1', []))],
    ['its Service gets another node port', mode => mode.set(nodePort('web', 30_090))],
    ['its Service is no longer of type NodePort', mode => mode.set(service('web', { clusterIP: '10.96.0.80' }))],
  ];
  for (const [what, change] of endings) {
    test(`NFT-51 a listener closes with its connections, without a reset, when ${what}`, () =>
      withNode(async node => {
        const mode = node.start();
        const accepted = await startEcho(node);
        mode.set(nodePort('web', 30_080), slice('web-1', ['10.244.1.20']));
        await mode.sync();
        const client = await connectTcp(node.namespace, LOCALHOST, 30_080);
        assert.equal(await echo(client, 'a'), 'a');
        const ends = Promise.all([client, ...accepted].map(ending));
        change(mode);
        await mode.sync();
        assert.deepEqual(await ends, ['end', 'end']);
        assert.equal(await ask(node, 30_080), 'refused');
      }));
  }

  test('NFT-51 two Services exchange their node ports in one sync', () =>
    withNode(async node => {
      const mode = node.start();
      mode.set(nodePort('a', 30_080), slice('a-1', [POD_A]), nodePort('b', 30_081), slice('b-1', [POD_B]));
      await mode.sync();
      mode.deleteService('default/a');
      mode.deleteService('default/b');
      mode.set(nodePort('a', 30_081), nodePort('b', 30_080));
      await mode.sync();
      assert.equal(await ask(node, 30_080), POD_B);
      assert.equal(await ask(node, 30_081), POD_A);
      assert.deepEqual(mode.setAside(), []);
    }));

  test('NFT-51 the endpoint of a UDP client that is gone is replaced', () =>
    withNode(async node => {
      const mode = node.start();
      mode.set(...udp('dns', 30_053, [POD_A]));
      await mode.sync();
      const client = await connectUdp(node.namespace, LOCALHOST, 30_053);
      node.onClose(() => client.close());
      const asked = async () => {
        client.send('?');
        const [answer] = await once(client, 'message');
        return String(answer).split(' ')[0];
      };
      assert.equal(await asked(), POD_A);
      mode.set(...udp('dns', 30_053, [POD_B]));
      await mode.sync();
      assert.equal(await asked(), POD_B);
    }));

  test('NFT-51 a policy that changes takes effect for new connections', () =>
    withNode(async node => {
      const mode = node.start();
      const [here, there] = [
        { ip: POD_A, nodeName: 'node-a' },
        { ip: POD_B, nodeName: 'node-b' },
      ] as const;
      mode.set(nodePort('web', 30_080), slice('web-1', [here, there]));
      await mode.sync();
      assert.equal(await ask(node, 30_080), `${POD_A} ${POD_B}`);
      mode.set(nodePort('web', 30_080, { externalTrafficPolicy: 'Local' }));
      await mode.sync();
      assert.equal(await ask(node, 30_080), POD_A);
      mode.set(slice('web-1', [there]));
      await mode.sync();
      assert.equal(await ask(node, 30_080), 'refused');
    }));

  test('NFT-51 listeners close when loopback is no longer listed, and when the mode closes', () =>
    withNode(async node => {
      const mode = node.start();
      mode.set(nodePort('web', 30_080), slice('web-1', [POD_A]));
      await mode.sync();
      assert.equal(await ask(node, 30_080), POD_A);
      await mode.sync(nodePorts('IPv4', [`${NODE_IP}/32`]));
      assert.equal(await ask(node, 30_080), 'refused');
      assert.match(nft(node.namespace, 'list', 'map', 'ip', 'kube-proxy', 'localhost-rejects'), /tcp \. 30080/);
      assert.equal(await ask(node, 30_080, 'TCP', NODE_IP), POD_A);
      await mode.sync(nodePorts('IPv4', ['127.0.0.0/8']));
      assert.equal(await ask(node, 30_080), POD_A);
      assert.doesNotMatch(nft(node.namespace, 'list', 'map', 'ip', 'kube-proxy', 'localhost-rejects'), /30080/);
      await mode.close();
      assert.equal(await ask(node, 30_080), 'refused');
    }));

  test('NFT-54 a client keeps its endpoint for the timeout after its last connection', () =>
    withNode(async node => {
      const clock = new ManualClock();
      const mode = node.start('IPv4', undefined, { clock });
      const spec = { sessionAffinity: 'ClientIP', sessionAffinityTimeoutSeconds: 10 };
      mode.set(nodePort('web', 30_080, spec), slice('web-1', [POD_A, POD_B]));
      await mode.sync();
      const first = await ask(node, 30_080);
      await clock.advance(9000);
      assert.equal(await ask(node, 30_080), first);
      await clock.advance(9000);
      assert.equal(await ask(node, 30_080), first);
      const other = first === POD_A ? POD_B : POD_A;
      await clock.advance(10_000);
      assert.equal(await ask(node, 30_080), other, 'after the timeout, it is the turn of the other one');
      assert.equal(await ask(node, 30_080), other);
      mode.set(slice('web-1', [first]));
      await mode.sync();
      assert.equal(await ask(node, 30_080), first, 'its endpoint is gone');
      mode.set(slice('web-1', [other]));
      await mode.sync();
      assert.equal(await ask(node, 30_080), other);
    }));
});

describe('rejected node ports at loopback addresses', () => {
  test('NFT-50 the rules count rejected packets by protocol, and a restart keeps the counts', () =>
    withNode(async node => {
      const mode = node.start('IPv4', [`${NODE_IP}/32`]);
      mode.set(nodePort('web', 30_080), slice('web-1', [POD_A]), ...udp('dns', 30_053, [POD_A]));
      await mode.sync();
      for (const [port, protocol] of [
        [30_080, 'TCP'],
        [30_053, 'UDP'],
      ] as const) {
        assert.equal(await ask(node, port, protocol), 'refused');
        assert.equal(await ask(node, port, protocol, '127.0.0.2' as Ip), 'refused');
      }
      const counted = () => {
        const listed = nft(node.namespace, 'list', 'set', 'ip', 'kube-proxy', 'localhost-rejected-packets');
        return [...listed.matchAll(/(\w+) counter packets (\d+)/g)].map(([, name, count]) => `${name} ${count}`).sort();
      };
      assert.deepEqual(counted(), ['sctp 0', 'tcp 4', 'udp 4']);
      await mode.restart();
      assert.deepEqual(counted(), ['sctp 0', 'tcp 4', 'udp 4']);
    }));

  test('NFT-50 SCTP is rejected where TCP and UDP are served', () =>
    withNode(async node => {
      const mode = node.start();
      const ports = [{ name: '', protocol: 'SCTP', port: 8080 }] as const;
      mode.set(nodePort('sctp', 30_009, { ports: [{ protocol: 'SCTP', nodePort: 30_009 }] }));
      mode.set(slice('sctp-1', [POD_A], { ports }), nodePort('web', 30_080), slice('web-1', [POD_A]));
      await mode.sync();
      const listed = nft(node.namespace, 'list', 'map', 'ip', 'kube-proxy', 'localhost-rejects');
      assert.match(listed, /elements = \{ sctp \. 30009 comment "default\/sctp" : goto localhost-reject \}/);
    }));

  test('NFT-49, NFT-50 without the feature gate nothing of it exists, and a restart removes what was there', () =>
    withNode(async node => {
      const plain = node.start('IPv4', undefined, { localhostNodePorts: false });
      plain.set(nodePort('web', 30_080), slice('web-1', [POD_A]));
      await plain.sync();
      const without = canonicalRuleset(node.namespace);
      assert.doesNotMatch(without, /localhost|127\.0\.0/);
      await plain.close();
      const mode = node.start('IPv4', [`${NODE_IP}/32`]);
      mode.set(nodePort('web', 30_080), slice('web-1', [POD_A]));
      await mode.sync();
      assert.match(canonicalRuleset(node.namespace), /localhost-reject/);
      await mode.close();
      const again = node.start('IPv4', undefined, { localhostNodePorts: false });
      again.set(nodePort('web', 30_080), slice('web-1', [POD_A]));
      await again.sync();
      await again.mode.settle();
      assert.equal(canonicalRuleset(node.namespace), without);
    }));

  test('NFT-7, NFT-50 the mode repairs what another program removes from the sets', () =>
    withNode(async node => {
      const mode = node.start('IPv4', [`${NODE_IP}/32`]);
      mode.set(nodePort('web', 30_080), slice('web-1', [POD_A]));
      await mode.sync();
      const before = canonicalRuleset(node.namespace);
      for (const [set, element] of [
        ['localhost-rejects', 'tcp . 30080'],
        ['localhost-rejected-packets', 'udp'],
      ] as const) {
        nft(node.namespace, 'delete', 'element', 'ip', 'kube-proxy', set, `{ ${element} }`);
        await waitFor(`a repair of ${set}`, () => canonicalRuleset(node.namespace) === before);
      }
    }));
});
