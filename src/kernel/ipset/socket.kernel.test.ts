import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { type Ip, parseCidr } from '../../net/index.ts';
import { NetworkNamespace } from '../netns.ts';
import { type Command, printCommand } from './command.ts';
import { type Entry, printElement, printEntry } from './entry.ts';
import { L4 } from './port.ts';
import type { Refusal } from './restore.ts';
import type { IpSet } from './set.ts';
import { IpsetSocket } from './socket.ts';

async function inNamespace(
  work: (ipset: IpsetSocket, program: (words: string[], input?: string) => string) => Promise<void>,
): Promise<void> {
  const namespace = NetworkNamespace.create();
  const ipset = IpsetSocket.open({ namespace });
  try {
    await work(ipset, (words, input) =>
      namespace.run(() => {
        const { status, stdout, stderr } = spawnSync('ipset', words, { encoding: 'utf8', input });
        assert.equal(status, 0, stderr);
        return stdout;
      }),
    );
  } finally {
    ipset.close();
    namespace.close();
  }
}

const ip = (text: string) => text as Ip;

function net(text: string) {
  const cidr = parseCidr(text);
  assert.ok(cidr);
  return cidr;
}

const hash = { family: 'IPv4', hashsize: 1024, maxelem: 65536 } as const;
const endpoint = { ip: ip('10.96.0.1'), protocol: L4.TCP, port: 80 };
const endpoint6 = { ip: ip('fd00::1'), protocol: L4.UDP, port: 53 };

const commands: Command[] = [
  { kind: 'create', set: { ...hash, name: 'IP', type: 'hash:ip' } },
  { kind: 'create', set: { ...hash, name: 'IP6', type: 'hash:ip', family: 'IPv6' } },
  { kind: 'create', set: { ...hash, name: 'PORT', type: 'hash:ip,port' } },
  { kind: 'create', set: { ...hash, name: 'PORT6', type: 'hash:ip,port', family: 'IPv6' } },
  { kind: 'create', set: { ...hash, name: 'PORT-IP', type: 'hash:ip,port,ip' } },
  { kind: 'create', set: { ...hash, name: 'PORT-NET', type: 'hash:ip,port,net' } },
  { kind: 'create', set: { ...hash, name: 'PORT-NET6', type: 'hash:ip,port,net', family: 'IPv6' } },
  { kind: 'create', set: { ...hash, name: 'NET', type: 'hash:net' } },
  { kind: 'create', set: { ...hash, name: 'MASK', type: 'hash:ip', netmask: 24 } },
  { kind: 'create', set: { name: 'NODE-PORT', type: 'bitmap:port', range: { from: 0, to: 65535 } } },
  {
    kind: 'create',
    set: { ...hash, name: 'RICH', type: 'hash:net', timeout: 3600, counters: true, comment: true, bucketsize: 4 },
  },
  { kind: 'add', name: 'IP', entries: [{ kind: 'hash:ip', ip: ip('10.0.0.1') }] },
  { kind: 'add', name: 'IP6', entries: [{ kind: 'hash:ip', ip: ip('fd00::1') }] },
  {
    kind: 'add',
    name: 'PORT',
    entries: [
      { kind: 'hash:ip,port', ...endpoint },
      { kind: 'hash:ip,port', ...endpoint, protocol: L4.SCTP },
    ],
  },
  { kind: 'add', name: 'PORT6', entries: [{ kind: 'hash:ip,port', ...endpoint6 }] },
  { kind: 'add', name: 'PORT-IP', entries: [{ kind: 'hash:ip,port,ip', ...endpoint, ip2: ip('10.0.0.9') }] },
  {
    kind: 'add',
    name: 'PORT-NET',
    entries: [
      { kind: 'hash:ip,port,net', ...endpoint, net: net('10.0.0.0/8') },
      { kind: 'hash:ip,port,net', ...endpoint, net: net('10.0.0.1/32') },
      { kind: 'hash:ip,port,net', ...endpoint, net: net('10.1.0.0/16'), nomatch: true },
    ],
  },
  { kind: 'add', name: 'PORT-NET6', entries: [{ kind: 'hash:ip,port,net', ...endpoint6, net: net('fd01::/64') }] },
  { kind: 'add', name: 'NET', entries: [{ kind: 'hash:net', net: net('192.168.0.0/16') }] },
  { kind: 'add', name: 'MASK', entries: [{ kind: 'hash:ip', ip: ip('10.1.2.0') }] },
  {
    kind: 'add',
    name: 'NODE-PORT',
    entries: [
      { kind: 'bitmap:port', port: 30080 },
      { kind: 'bitmap:port', port: 0 },
    ],
  },
  {
    kind: 'add',
    name: 'RICH',
    entries: [{ kind: 'hash:net', net: net('10.0.0.0/8'), timeout: 0, packets: 3n, bytes: 1n << 40n, comment: 'a b' }],
  },
];

/** Sorts the lines and removes the seeds, because both differ between two sets that were created in the same way. */
const lines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map(line => line.replace(/ initval 0x[0-9a-f]+/, ''))
    .sort();
const errors = (refusals: readonly Refusal[]) => refusals.map(({ error }) => [error.operation, error.errno]);

test('KERNEL-11 ipset save prints the restored sets, and restoring its output gives the same sets', () =>
  inNamespace(async (ipset, program) => {
    assert.deepEqual(await ipset.restore(commands), []);
    const saved = [...ipset.save()].map(printCommand);
    assert.deepEqual(saved.sort(), program(['save']).trim().split('\n').sort());
    await ipset.destroy();
    program(['restore'], commands.map(command => `${printCommand(command)}\n`).join(''));
    assert.deepEqual(lines([...ipset.save()].map(printCommand).join('\n')), lines(saved.join('\n')));
  }));

test('KERNEL-11 wanted and listed entries have the same text', () =>
  inNamespace(async ipset => {
    assert.deepEqual(await ipset.restore(commands), []);
    for (const command of commands) {
      if (command.kind !== 'add') continue;
      const listed = Array.from(ipset.entries(command.name), printElement);
      assert.deepEqual(listed.sort(), command.entries.map(printElement).sort());
    }
  }));

test('KERNEL-11 lists names and headers as ipset does', () =>
  inNamespace(async (ipset, program) => {
    await ipset.restore(commands);
    assert.deepEqual([...ipset.names()], program(['list', '-n']).trim().split('\n'));
    const [header, ...others] = [...ipset.headers('PORT-NET')];
    assert.ok(header);
    assert.deepEqual(others, []);
    const theirs = program(['list', '-t', 'PORT-NET']);
    for (const line of [
      `Revision: ${header.revision}`,
      `Size in memory: ${header.memsize}`,
      `References: ${header.references}`,
      `Number of entries: ${header.elements}`,
    ]) {
      assert.ok(theirs.includes(`${line}\n`), `${line} is not in\n${theirs}`);
    }
    assert.equal(header.elements, 3);
    assert.equal([...ipset.headers()].length, 11);
  }));

test('KERNEL-11 a set of an unsupported type has a name and a header, and is not saved', () =>
  inNamespace(async (ipset, program) => {
    program(['create', 'L', 'list:set']);
    program(['create', 'A', 'hash:ip']);
    program(['add', 'L', 'A']);
    assert.deepEqual([...ipset.names()].sort(), ['A', 'L']);
    assert.deepEqual(
      [...ipset.headers('L')].map(header => [header.type, header.elements]),
      [['list:set', 1]],
    );
    assert.deepEqual([...ipset.save('L')], []);
    assert.deepEqual([...ipset.entries('L')], []);
    await assert.rejects(ipset.destroy('A'), { code: 'KERNEL_REFUSED', errno: 'IPSET_ERR_BUSY' });
    await assert.rejects(ipset.rename('A', 'B'), { errno: 'IPSET_ERR_REFERENCED' });
  }));

const set: IpSet = { ...hash, name: 'A', type: 'hash:ip,port' };
const web = (index: number): Entry => ({
  kind: 'hash:ip,port',
  ip: `10.0.${index >> 8}.${index & 255}` as Ip,
  protocol: L4.TCP,
  port: 80,
});

test('KERNEL-11 create refuses an existing set; with exist it accepts a set of the same type', () =>
  inNamespace(async ipset => {
    await ipset.create(set);
    await assert.rejects(ipset.create(set), {
      operation: 'create A hash:ip,port family inet hashsize 1024 maxelem 65536',
      errno: 'EEXIST',
    });
    await ipset.create({ ...set, hashsize: 2048 }, { exist: true });
    await assert.rejects(ipset.create({ ...set, type: 'hash:ip' }, { exist: true }), { errno: 'EEXIST' });
    await assert.rejects(ipset.destroy('B'), { errno: 'ENOENT' });
    await ipset.destroy('B', { exist: true });
    assert.throws(() => [...ipset.entries('B')], {
      operation: 'list B',
      errno: 'ENOENT',
      reason: 'there is no set with this name',
    });
  }));

test('KERNEL-11 tests, flushes, swaps and renames', () =>
  inNamespace(async ipset => {
    await ipset.restore([
      { kind: 'create', set },
      { kind: 'create', set: { ...set, name: 'B' } },
      { kind: 'create', set: { ...set, name: 'N', type: 'hash:net' } },
      { kind: 'add', name: 'A', entries: [web(1)] },
      { kind: 'swap', name: 'A', name2: 'B' },
    ]);
    assert.deepEqual([await ipset.test('A', web(1)), await ipset.test('B', web(1))], [false, true]);
    await assert.rejects(ipset.test('C', web(1)), { operation: 'test C 10.0.0.1,tcp:80', errno: 'ENOENT' });
    await assert.rejects(ipset.swap('A', 'N'), { errno: 'IPSET_ERR_TYPE_MISMATCH' });
    await assert.rejects(ipset.swap('A', 'C'), { errno: 'IPSET_ERR_EXIST_SETNAME2' });
    await ipset.flush('B');
    assert.equal(await ipset.test('B', web(1)), false);
    await ipset.rename('B', 'C');
    assert.deepEqual([...ipset.names()].sort(), ['A', 'C', 'N']);
    await ipset.add('A', [web(1)]);
    await ipset.flush();
    assert.deepEqual([...ipset.entries('A')], []);
    await ipset.destroy();
    assert.deepEqual([...ipset.names()], []);
  }));

test('KERNEL-11 the errors name each refused entry, and all other entries are added or deleted', () =>
  inNamespace(async ipset => {
    await ipset.create(set);
    const all = Array.from({ length: 2000 }, (_, index) => web(index));
    const there = [0, 5, 6, 399, 1999].map(web);
    assert.deepEqual(await ipset.add('A', there), []);
    const wrong: Entry = { kind: 'hash:ip,port', ip: ip('fd00::1'), protocol: L4.TCP, port: 80 };
    const refused = await ipset.add('A', [...all, wrong]);
    const expected = there.map(entry => [`add A ${printEntry(entry)}`, 'IPSET_ERR_EXIST']);
    assert.deepEqual(errors(refused).sort(), [...expected, ['add A fd00::1,tcp:80', 'IPSET_ERR_PROTOCOL']].sort());
    assert.equal([...ipset.entries('A')].length, 2000);
    assert.deepEqual(await ipset.add('A', all, { exist: true }), []);

    assert.deepEqual(await ipset.del('A', there), []);
    const missing = await ipset.del('A', all);
    assert.deepEqual(
      errors(missing).sort(),
      expected.map(([line = '', errno]) => [line.replace('add', 'del'), errno]).sort(),
    );
    assert.deepEqual([...ipset.entries('A')], []);
    assert.deepEqual(await ipset.del('A', all, { exist: true }), []);
    const none = await ipset.del('A', all);
    assert.equal(none.length, all.length);
  }));

test('KERNEL-11 the error name for a refused entry depends on the set type', () =>
  inNamespace(async ipset => {
    const refusals = await ipset.restore([
      { kind: 'create', set: { name: 'P', type: 'bitmap:port', range: { from: 1, to: 9 } } },
      { kind: 'create', set: { ...set, name: 'S', maxelem: 1 } },
      { kind: 'create', set: { ...hash, name: 'N', type: 'hash:net' } },
      { kind: 'add', name: 'P', entries: [{ kind: 'bitmap:port', port: 10 }] },
      { kind: 'add', name: 'S', entries: [web(1), web(2)] },
      { kind: 'add', name: 'N', entries: [{ kind: 'hash:net', net: net('0.0.0.0/0') }] },
      { kind: 'add', name: 'N', entries: [{ kind: 'hash:net', net: net('10.0.0.0/8'), comment: 'c' }] },
      { kind: 'add', name: 'X', entries: [web(1), web(2)] },
    ]);
    assert.deepEqual(errors(refusals), [
      ['add P 10', 'IPSET_ERR_BITMAP_RANGE'],
      ['add S 10.0.0.2,tcp:80', 'IPSET_ERR_HASH_FULL'],
      ['add N 0.0.0.0/0', 'IPSET_ERR_INVALID_CIDR'],
      ['add N 10.0.0.0/8 comment "c"', 'IPSET_ERR_COMMENT'],
      ['add X (2 entries)', 'ENOENT'],
    ]);
  }));

test('KERNEL-11 a del before an add of the same entry keeps its order', () =>
  inNamespace(async ipset => {
    await ipset.create(set);
    await ipset.add('A', [web(2)]);
    const refused = await ipset.restore([
      { kind: 'del', name: 'A', entries: [web(1), web(2)] },
      { kind: 'add', name: 'A', entries: [web(2)] },
    ]);
    assert.deepEqual(errors(refused), [['del A 10.0.0.1,tcp:80', 'IPSET_ERR_EXIST']]);
    assert.deepEqual(Array.from(ipset.entries('A'), printElement), ['10.0.0.2,tcp:80']);
  }));

test('KERNEL-11 adds thirty thousand entries in bulk and lists them in constant memory', () =>
  inNamespace(async ipset => {
    const COUNT = 30_000;
    await ipset.create(set);
    const all = Array.from({ length: COUNT }, (_, index) => web(index));
    assert.deepEqual(await ipset.add('A', all), []);
    for (const _ of ipset.entries('A')) break;
    const collect = globalThis.gc;
    assert.ok(collect);
    collect();
    const before = process.memoryUsage().heapUsed;
    let [seen, peak] = [0, 0];
    for (const _ of ipset.entries('A')) {
      if (++seen % 7_500 !== 0) continue;
      collect();
      peak = Math.max(peak, process.memoryUsage().heapUsed - before);
    }
    assert.equal(seen, COUNT);
    assert.ok(peak < 1 << 20, `the heap grew by ${peak} bytes`);
  }));
