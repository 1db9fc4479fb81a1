import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service, slice } from '../../test/support/objects.ts';
import { ConntrackSocket, type Flow, L4, Status } from '../kernel/conntrack/index.ts';
import { NetworkNamespace } from '../kernel/netns.ts';
import { Model } from '../model/index.ts';
import type { Ip } from '../net/index.ts';
import { StaleFlowCleaner } from './stale-flow-cleaner.ts';

const CLIENT = '10.244.1.200' as Ip;

function flow(protocol: number, port: number, to: string, answeredBy: string): Flow {
  const [destination = '', dstPort = ''] = to.split(':');
  const [source = '', srcPort = ''] = answeredBy.split(':');
  return {
    family: 'IPv4',
    protocol,
    original: { src: CLIENT, dst: destination as Ip, srcPort: port, dstPort: Number(dstPort) },
    reply: { src: source as Ip, dst: CLIENT, srcPort: Number(srcPort), dstPort: port },
    timeout: 100,
  };
}

test('NFT-15 the kernel forgets UDP flows to endpoints that are gone, and no others', async () => {
  const namespace = NetworkNamespace.create();
  const conntrack = ConntrackSocket.open({ namespace });
  const cleaner = new StaleFlowCleaner(namespace);
  try {
    const model = new Model({ family: 'IPv4', nodeName: '', startedAt: 0, report: () => {} });
    model.setService(
      service('dns', { clusterIP: '10.96.0.53', ports: [{ protocol: 'UDP', port: 53, nodePort: 30053 }] }),
    );
    model.setEndpointSlice(slice('dns-1', ['10.244.1.10'], { ports: [{ name: '', protocol: 'UDP', port: 53 }] }));
    model.take();
    const kept = [
      flow(L4.UDP, 1001, '10.96.0.53:53', '10.244.1.10:53'),
      flow(L4.UDP, 1002, '8.8.8.8:53', '8.8.8.8:53'),
      flow(L4.UDP, 1003, '192.168.0.2:30053', '10.244.1.10:53'),
    ];
    const stale = [
      flow(L4.UDP, 2001, '10.96.0.53:53', '10.244.2.10:53'),
      flow(L4.UDP, 2002, '10.96.0.53:53', '10.96.0.53:53'),
      flow(L4.UDP, 2003, '192.168.0.2:30053', '10.244.2.10:53'),
    ];
    assert.deepEqual(await conntrack.create([...kept, ...stale]), []);
    assert.equal(await cleaner.clean('IPv4', model.services(), true), 3);
    const left = [...conntrack.dump()].map(({ original }) => original.srcPort).sort();
    assert.deepEqual(left, [1001, 1002, 1003]);
    assert.equal(await cleaner.clean('IPv4', model.services(), true), 0);
  } finally {
    cleaner.close();
    conntrack.close();
    namespace.close();
  }
});

test('SYNC-11 the kernel forgets attempts to connect to a Service that no rule translated, and no other TCP flow', async () => {
  const namespace = NetworkNamespace.create();
  const conntrack = ConntrackSocket.open({ namespace });
  const cleaner = new StaleFlowCleaner(namespace);
  try {
    const model = new Model({ family: 'IPv4', nodeName: '', startedAt: 0, report: () => {} });
    model.setService(service('web', { clusterIP: '10.96.0.1', externalIPs: ['1.1.1.1'] }));
    model.setEndpointSlice(slice('web-1', ['10.244.1.10']));
    model.take();
    const attempt = (port: number, to: string, answeredBy = to): Flow => ({
      ...flow(L4.TCP, port, to, answeredBy),
      state: 'SYN_SENT',
    });
    const answered = { status: Status.CONFIRMED | Status.SEEN_REPLY | Status.ASSURED, state: 'ESTABLISHED' } as const;
    const kept = [
      attempt(1001, '10.96.0.1:80', '10.244.1.10:8080'),
      attempt(1002, '10.96.0.1:81'),
      attempt(1003, '8.8.8.8:80'),
      { ...attempt(1004, '10.96.0.1:80'), ...answered },
    ];
    const lost = [attempt(2001, '10.96.0.1:80'), attempt(2002, '1.1.1.1:80')];
    assert.deepEqual(await conntrack.create([...kept, ...lost]), []);
    assert.equal(await cleaner.cleanLostAttempts('IPv4', model.services(), true), 2);
    const left = [...conntrack.dump()].map(({ original }) => original.srcPort).sort();
    assert.deepEqual(left, [1001, 1002, 1003, 1004]);
  } finally {
    cleaner.close();
    conntrack.close();
    namespace.close();
  }
});

test('SYNC-10 a search for stale flows lets other work run, while it reads flows and while it deletes them', async () => {
  const COUNT = 20_000;
  const namespace = NetworkNamespace.create();
  const conntrack = ConntrackSocket.open({ namespace });
  const cleaner = new StaleFlowCleaner(namespace);
  try {
    const model = new Model({ family: 'IPv4', nodeName: '', startedAt: 0, report: () => {} });
    model.setService(service('dns', { clusterIP: '10.96.0.53', ports: [{ protocol: 'UDP', port: 53 }] }));
    model.setEndpointSlice(slice('dns-1', ['10.244.1.10'], { ports: [{ name: '', protocol: 'UDP', port: 53 }] }));
    model.take();
    const flowsTo = (endpoint: string, firstPort: number) =>
      Array.from({ length: COUNT }, (_, i) => flow(L4.UDP, firstPort + i, '10.96.0.53:53', endpoint));
    assert.deepEqual(await conntrack.create(flowsTo('10.244.1.10:53', 1000)), []);
    assert.ok((await turnsDuring(() => cleaner.clean('IPv4', model.services(), true))) >= 5, 'while it reads');
    assert.deepEqual(await conntrack.create(flowsTo('10.244.2.10:53', 1000 + COUNT)), []);
    assert.ok((await turnsDuring(() => cleaner.clean('IPv4', model.services(), true))) >= 20, 'while it deletes');
    assert.equal((await conntrack.count()).entries, COUNT);
  } finally {
    cleaner.close();
    conntrack.close();
    namespace.close();
  }
});

/** How often other work ran during this work. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let [turns, isDone] = [0, false];
  const countTurn = () => {
    turns++;
    if (!isDone) setImmediate(countTurn);
  };
  setImmediate(countTurn);
  await work();
  isDone = true;
  return turns;
}
