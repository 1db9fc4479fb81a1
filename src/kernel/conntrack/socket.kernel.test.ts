import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import type { Ip } from '../../net/index.ts';
import { NetworkNamespace } from '../netns.ts';
import { type FlowFilter, matches, printFilter } from './filter.ts';
import { type Flow, printFlow } from './flow.ts';
import { L4 } from './protocol.ts';
import { ConntrackSocket } from './socket.ts';
import { Status } from './status.ts';

async function inNamespace(
  work: (conntrack: ConntrackSocket, program: (...words: string[]) => string) => Promise<void>,
): Promise<void> {
  const namespace = NetworkNamespace.create();
  const conntrack = ConntrackSocket.open({ namespace });
  try {
    await work(conntrack, (...words) =>
      namespace.run(() => {
        const { status, stdout, stderr } = spawnSync('conntrack', words, { encoding: 'utf8' });
        assert.equal(status, 0, stderr);
        return stdout;
      }),
    );
  } finally {
    conntrack.close();
    namespace.close();
  }
}

interface Ends {
  readonly src: string;
  readonly dst: string;
  readonly srcPort: number;
  readonly dstPort: number;
}

function flow(protocol: number, { src, dst, srcPort, dstPort }: Ends, more: Partial<Flow> = {}): Flow {
  const [from, to] = [src as Ip, dst as Ip];
  return {
    family: src.includes(':') ? 'IPv6' : 'IPv4',
    protocol,
    original: { src: from, dst: to, srcPort, dstPort },
    reply: { src: to, dst: from, srcPort: dstPort, dstPort: srcPort },
    timeout: 600,
    ...more,
  };
}

const dns = { src: '10.0.0.1', dst: '10.96.0.1', srcPort: 1000, dstPort: 53 };
const dns6 = { src: 'fd00::1', dst: 'fd00::2', srcPort: 1000, dstPort: 53 };
const icmp = (type: number) => ({ type, code: 0, id: 77 });
const ping: Flow = {
  ...flow(L4.ICMP, { ...dns, srcPort: 0, dstPort: 0 }),
  original: { src: '10.0.0.1' as Ip, dst: '10.0.0.2' as Ip, srcPort: 0, dstPort: 0, icmp: icmp(8) },
  reply: { src: '10.0.0.2' as Ip, dst: '10.0.0.1' as Ip, srcPort: 0, dstPort: 0, icmp: icmp(0) },
};
const replied = Status.SEEN_REPLY | Status.ASSURED | Status.CONFIRMED;
const flows: Flow[] = [
  flow(L4.UDP, dns, { reply: { src: '10.1.0.5' as Ip, dst: '10.0.0.1' as Ip, srcPort: 5353, dstPort: 1000 } }),
  flow(L4.UDP, { ...dns, src: '10.0.0.2' }, { mark: 0x80000005 }),
  flow(L4.UDP, dns, { zone: 3 }),
  flow(L4.TCP, dns, { state: 'ESTABLISHED', status: replied }),
  flow(L4.SCTP, { ...dns, dstPort: 9 }, { state: 'ESTABLISHED' }),
  flow(L4.UDP, dns6),
  flow(L4.UDP, { ...dns6, src: 'fd00::3' }),
  flow(L4.TCP, dns6, { state: 'TIME_WAIT', status: replied }),
  ping,
];

/** Removes what changes from one listing to the next: the seconds left and the references. */
const withoutCounts = (line: string) => line.replace(/ use=\d+/, '').replace(/^(\S+ +\d+ )\d+/, '$1N');

test('KERNEL-11 lists created flows as conntrack -L does', () =>
  inNamespace(async (conntrack, program) => {
    assert.deepEqual(await conntrack.create(flows), []);
    const lines = [...conntrack.dump()].map(listed => withoutCounts(printFlow(listed)));
    assert.equal(lines.length, flows.length);
    const theirs = program('-L').trim().split('\n').map(withoutCounts);
    assert.deepEqual(lines.sort(), theirs.sort());
    assert.equal((await conntrack.count()).entries, flows.length);
  }));

const filters: FlowFilter[] = [
  { family: 'IPv4' },
  { family: 'IPv6' },
  { protocol: L4.UDP },
  { family: 'IPv4', protocol: L4.UDP },
  { family: 'IPv6', protocol: L4.UDP },
  { family: 'IPv4', protocol: L4.SCTP },
  { zone: 3 },
  { zone: 0, family: 'IPv4', protocol: L4.UDP },
  { mark: { value: 0x80000000, mask: 0x80000000 } },
  { original: { dst: '10.96.0.1' as Ip } },
  { original: { src: 'fd00::3' as Ip } },
  { family: 'IPv4', original: { dstPort: 53 } },
  { family: 'IPv4', protocol: L4.UDP, original: { dstPort: 53 }, reply: { src: '10.1.0.5' as Ip, srcPort: 5353 } },
  { protocol: L4.UDP, reply: { src: 'fd00::2' as Ip, srcPort: 53 } },
  { family: 'IPv4', protocol: L4.ICMP },
  { family: 'IPv4', protocol: L4.GRE },
];

test('KERNEL-11 a dump with a filter returns exactly the flows that match', () =>
  inNamespace(async conntrack => {
    assert.deepEqual(await conntrack.create(flows), []);
    const texts = (some: Iterable<Flow>) =>
      Array.from(some, listed => `${JSON.stringify(listed.original)} ${listed.protocol} ${listed.zone ?? 0}`).sort();
    for (const filter of filters) {
      const wanted = flows.filter(candidate => matches(filter, candidate));
      assert.deepEqual(texts(conntrack.dump(filter)), texts(wanted), printFilter(filter));
    }
  }));

test('KERNEL-11 deletes exactly the named flows, in their zone, and counts flows that were gone already', () =>
  inNamespace(async conntrack => {
    assert.deepEqual(await conntrack.create(flows), []);
    const inZone = [...conntrack.dump({ zone: 3 })];
    assert.equal(inZone.length, 1);
    assert.deepEqual(await conntrack.delete(inZone), { deleted: 1, gone: 0, refused: [] });
    assert.deepEqual(await conntrack.delete(inZone), { deleted: 0, gone: 1, refused: [] });
    assert.equal([...conntrack.dump({ family: 'IPv4', protocol: L4.UDP })].length, 2);
    assert.deepEqual(await conntrack.delete([ping, ping]), { deleted: 1, gone: 1, refused: [] });
    assert.deepEqual(await conntrack.delete([]), { deleted: 0, gone: 0, refused: [] });
    assert.equal((await conntrack.count()).entries, flows.length - 2);
  }));

test('KERNEL-11 an id protects a newer flow with the same tuple from a delete', () =>
  inNamespace(async conntrack => {
    const [first] = flows;
    assert.ok(first);
    await conntrack.create([first]);
    const found = await conntrack.get(first);
    assert.ok(found?.id !== undefined);
    assert.deepEqual(await conntrack.delete([{ ...found, id: found.id ^ 1 }]), { deleted: 0, gone: 1, refused: [] });
    assert.deepEqual(await conntrack.delete([found]), { deleted: 1, gone: 0, refused: [] });
    assert.equal(await conntrack.get(first), undefined);
  }));

test('KERNEL-11 create returns the flows that the kernel refused, and creates the others', () =>
  inNamespace(async conntrack => {
    const [first, second] = flows;
    assert.ok(first && second);
    const refused = await conntrack.create([first, first, second]);
    assert.deepEqual(
      refused.map(({ flow: { original }, error }) => [original, error.errno]),
      [[first.original, 'EEXIST']],
    );
    assert.equal((await conntrack.count()).entries, 2);
  }));

test('KERNEL-11 a dump that ends early leaves nothing behind, and several dumps can run at once', () =>
  inNamespace(async conntrack => {
    const many = Array.from({ length: 2000 }, (_, i) => flow(L4.UDP, { ...dns, srcPort: 1 + i }));
    assert.deepEqual(await conntrack.create(many), []);
    for (const _ of conntrack.dump()) break;
    const seen: number[] = [];
    for (const _ of conntrack.dump()) {
      if (seen.push(seen.length) === 3) assert.equal([...conntrack.dump()].length, 2000);
    }
    assert.equal(seen.length, 2000);
  }));

test('KERNEL-11 a dump of twenty thousand flows takes constant memory, and a stream lets other work run', () =>
  inNamespace(async conntrack => {
    const COUNT = 20_000;
    const address = (i: number) => `10.0.${(i >> 8) & 255}.${i & 255}`;
    const many = Array.from({ length: COUNT }, (_, i) => flow(L4.UDP, { ...dns, src: address(i) }));
    assert.deepEqual(await conntrack.create(many), []);
    const collect = globalThis.gc;
    assert.ok(collect);
    for (const _ of conntrack.dump());
    collect();
    const before = process.memoryUsage().heapUsed;
    let [seen, peak] = [0, 0];
    for (const _ of conntrack.dump()) {
      if (++seen % 5_000 !== 0) continue;
      collect();
      peak = Math.max(peak, process.memoryUsage().heapUsed - before);
    }
    assert.equal(seen, COUNT);
    assert.ok(peak < 1 << 20, `the heap grew by ${peak} bytes`);

    let [streamed, turns] = [0, 0];
    const timer = setInterval(() => turns++, 0);
    for await (const _ of conntrack.stream({ family: 'IPv4', protocol: L4.UDP })) streamed++;
    clearInterval(timer);
    assert.equal(streamed, COUNT);
    assert.ok(turns >= 5, `other work ran ${turns} times`);

    const { deleted } = await conntrack.delete([...conntrack.dump()]);
    assert.equal(deleted, COUNT);
  }));
