import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { Cluster } from '../../src/demo/playground/index.ts';
import { connectTcp, listenTcp } from '../../src/kernel/sockets/index.ts';
import type { Ip } from '../../src/net/index.ts';
import { IpvsUnderTest } from '../support/ipvs-mode.ts';
import { servers } from '../support/ipvs-state.ts';
import { service, slice } from '../support/objects.ts';

test('IPVS-1 over SCTP, endpoints take turns at a cluster IP, and a node port is answered', async () => {
  const cluster = Cluster.create();
  const mode = new IpvsUnderTest(cluster.node);
  const ips = ['10.244.1.2', '10.244.1.3'] as Ip[];
  const peers: { destroy(): void }[] = [];
  const listeners = await Promise.all(
    ips.map(ip => {
      const answer = (peer: Socket) => {
        peers.push(peer.on('error', () => {}));
        peer.write(`${ip} ${peer.remoteAddress}`);
      };
      return listenTcp(cluster.addPod(ip), ip, 7777, answer, 'SCTP');
    }),
  );
  const ask = async (from: 'pod' | 'ext', ip: string, port: number) => {
    const namespace = from === 'pod' ? cluster.addPod('10.244.1.200' as Ip) : cluster.host('ext');
    const connection = await connectTcp(namespace, ip as Ip, port, { type: 'SCTP' });
    const [answer] = await once(connection, 'data');
    connection.destroy();
    return String(answer);
  };
  try {
    mode.set(
      service('s', { clusterIP: '10.96.0.1', ports: [{ protocol: 'SCTP', port: 7, nodePort: 30007 }] }),
      slice('s-1', ips, { ports: [{ name: '', protocol: 'SCTP', port: 7777 }] }),
    );
    await mode.sync();
    const answers = [await ask('pod', '10.96.0.1', 7), await ask('pod', '10.96.0.1', 7)];
    assert.deepEqual(answers.sort(), ['10.244.1.2 10.244.1.200', '10.244.1.3 10.244.1.200']);
    assert.match(await ask('ext', '192.168.0.2', 30007), /^10\.244\.1\.[23] 10\.244\.1\.1$/);
    mode.set(slice('s-1', ['10.244.1.3'], { ports: [{ name: '', protocol: 'SCTP', port: 7777 }] }));
    await mode.sync();
    assert.doesNotMatch(servers(cluster.node), /10\.244\.1\.2/, 'the removed endpoint is still a real server');
  } finally {
    for (const peer of peers) peer.destroy();
    for (const listener of listeners) listener.close();
    await mode.close();
    cluster.close();
  }
});
