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

/** Seconds left and references differ from one look to the next. */
const steady = (line: string) => line.replace(/ use=\d+/, '').replace(/^(\S+ +\d+ )\d+/, '$1N');

test('KERNEL-11 Linux 6.1: SCTP and UDP flows are created, listed as conntrack -L does, filtered and deleted', async () => {
  const namespace = NetworkNamespace.create();
  const conntrack = ConntrackSocket.open({ namespace });
  try {
    assert.deepEqual(await conntrack.create([sctp, udp]), []);
    const { stdout } = namespace.run(() => spawnSync('conntrack', ['-L'], { encoding: 'utf8' }));
    const lines = [...conntrack.dump()].map(flow => steady(printFlow(flow)));
    assert.deepEqual(lines.sort(), stdout.trim().split('\n').map(steady).sort());
    const protocols = [...conntrack.dump({ family: 'IPv4', protocol: L4.SCTP })].map(flow => flow.protocol);
    assert.deepEqual(protocols, [L4.SCTP]);
    assert.deepEqual(await conntrack.delete([...conntrack.dump(), udp]), { deleted: 2, gone: 1, refused: [] });
  } finally {
    conntrack.close();
    namespace.close();
  }
});

test('KERNEL-11 Linux 6.1 without zones refuses a filter by zone, which is then applied here', async () => {
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
