import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import type { Ip } from '../../net/index.ts';
import { NetworkNamespace } from '../netns.ts';
import { type Flow, printFlow } from './flow.ts';
import { L4 } from './protocol.ts';
import { ConntrackSocket } from './socket.ts';

const sctp: Flow = {
  family: 'IPv4',
  protocol: L4.SCTP,
  original: { src: '10.0.0.1' as Ip, dst: '10.96.0.1' as Ip, srcPort: 1000, dstPort: 9 },
  reply: { src: '10.1.0.5' as Ip, dst: '10.0.0.1' as Ip, srcPort: 99, dstPort: 1000 },
  timeout: 600,
  state: 'ESTABLISHED',
};
const udp: Flow = { ...sctp, protocol: L4.UDP, state: undefined };

/** Removes what changes from one listing to the next: the seconds left and the references. */
const withoutCounts = (line: string) => line.replace(/ use=\d+/, '').replace(/^(\S+ +\d+ )\d+/, '$1N');

test('KERNEL-11 Linux 6.1 creates, lists as conntrack -L does, filters and deletes SCTP and UDP flows', async () => {
  const namespace = NetworkNamespace.create();
  const conntrack = ConntrackSocket.open({ namespace });
  try {
    assert.deepEqual(await conntrack.create([sctp, udp]), []);
    const { stdout } = namespace.run(() => spawnSync('conntrack', ['-L'], { encoding: 'utf8' }));
    const lines = [...conntrack.dump()].map(flow => withoutCounts(printFlow(flow)));
    assert.deepEqual(lines.sort(), stdout.trim().split('\n').map(withoutCounts).sort());
    const protocols = [...conntrack.dump({ family: 'IPv4', protocol: L4.SCTP })].map(flow => flow.protocol);
    assert.deepEqual(protocols, [L4.SCTP]);
    assert.deepEqual(await conntrack.delete([...conntrack.dump(), udp]), { deleted: 2, gone: 1, refused: [] });
  } finally {
    conntrack.close();
    namespace.close();
  }
});

test('KERNEL-11 when Linux 6.1 without zones refuses a filter by zone, this process applies it', async () => {
  const namespace = NetworkNamespace.create();
  const conntrack = ConntrackSocket.open({ namespace });
  try {
    await conntrack.create([sctp, udp]);
    const count = (zone: number) => [...conntrack.dump({ family: 'IPv4', protocol: L4.UDP, zone })].length;
    assert.deepEqual([count(0), count(3)], [1, 0]);
  } finally {
    conntrack.close();
    namespace.close();
  }
});
