import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ip } from '../../net/index.ts';
import { Flag, MessageWriter } from '../netlink/index.ts';
import {
  type Command,
  type EntryCommand,
  encodeSetCommand,
  encodeSeveral,
  encodeSingle,
  messageType,
  printCommand,
  type SetCommand,
} from './command.ts';
import type { Entry } from './entry.ts';
import { encodeList, type ListDepth } from './list.ts';
import { IpsetMessage } from './message.ts';
import { L4 } from './port.ts';
import { encodeProtocol } from './protocol-version.ts';
import { encodeType } from './set-type.ts';
import { splitCommands } from './split-commands.ts';

const hex = (text: string) => text.replaceAll(/\s/g, '');

function message(type: number, flags: number, write: (writer: MessageWriter) => void): string {
  const writer = new MessageWriter().begin(type, Flag.REQUEST | flags, 1);
  write(writer);
  return writer.end().bytes.toString('hex');
}

// All expected bytes are those of `ipset` 7.17, with sequence number 1. ipset leaves its padding uninitialised; here
// the padding is zero.

test('KERNEL-1 requests for the protocol and for the revisions of a type have the bytes of ipset', () => {
  assert.equal(
    message(IpsetMessage.PROTOCOL, 0, encodeProtocol),
    hex('1c000000 0106 0100 01000000 00000000 02000000 05000100 07000000'),
  );
  assert.equal(
    message(IpsetMessage.TYPE, 0, writer => encodeType(writer, 7, 'hash:ip,port', 'IPv4')),
    hex(`38000000 0d06 0100 01000000 00000000 02000000 05000100 07000000
      11000300 686173683a69702c706f7274 00000000 05000500 02000000`),
  );
});

const setCommands: [SetCommand, number, string][] = [
  [{ kind: 'swap', name: 'A', name2: 'A2' }, 0, '2c000000 0606 0500 06000200 41000000 07000300 41320000'],
  [{ kind: 'rename', name: 'A2', name2: 'A3' }, 0, '2c000000 0506 0500 07000200 41320000 07000300 41330000'],
  [{ kind: 'flush', name: 'A' }, 0, '24000000 0406 0500 06000200 41000000'],
  [{ kind: 'flush' }, 0, '1c000000 0406 0500'],
  [{ kind: 'destroy', name: 'A' }, Flag.EXCL, '24000000 0306 0502 06000200 41000000'],
  [{ kind: 'destroy' }, Flag.EXCL, '1c000000 0306 0502'],
];
for (const [command, flags, bytes] of setCommands) {
  test(`KERNEL-1 ${printCommand(command)} has the bytes of ipset`, () => {
    const sent = message(messageType(command.kind), Flag.ACK | flags, writer =>
      encodeSetCommand(writer, 7, command, 0),
    );
    const head = hex('01000000 00000000 02000000 05000100 07000000');
    const packed = hex(bytes);
    assert.equal(sent, packed.slice(0, 16) + head + packed.slice(16));
  });
}

const lists: [ListDepth, string | undefined, string][] = [
  ['names', undefined, '24000000 0706 0103 01000000 00000000 02000000 05000100 07000000 08000640 00000002'],
  [
    'headers',
    'A',
    '2c000000 0706 0103 01000000 00000000 02000000 05000100 07000000 06000200 41000000 08000640 00000004',
  ],
  ['entries', 'A', '24000000 0706 0103 01000000 00000000 02000000 05000100 07000000 06000200 41000000'],
];
for (const [depth, name, bytes] of lists) {
  test(`KERNEL-1 listing ${depth} has the bytes of ipset, without the flag for an acknowledgement`, () => {
    const sent = message(IpsetMessage.LIST, Flag.DUMP, writer => encodeList(writer, 7, depth, name));
    assert.equal(sent, hex(bytes));
  });
}

const web = (address: string): Entry => ({ kind: 'hash:ip,port', ip: address as Ip, protocol: L4.TCP, port: 80 });

test('KERNEL-1 adding and deleting one entry has the bytes of ipset', () => {
  const command: EntryCommand = { kind: 'add', name: 'A', entries: [web('10.96.0.1')] };
  const expected = hex(`4c000000 0906 0502 01000000 00000000 02000000 05000100 07000000 06000200 41000000
    28000780 0c000180 08000140 0a600001 06000440 00500000 05000700 06000000 08000940 00000000`);
  const flags = Flag.ACK | Flag.EXCL;
  assert.equal(
    message(IpsetMessage.ADD, flags, writer => encodeSingle(writer, 7, command)),
    expected,
  );
  assert.equal(
    message(IpsetMessage.DEL, flags, writer => encodeSingle(writer, 7, { ...command, kind: 'del' })),
    expected.replace('09060502', '0a060502'),
  );
  assert.throws(() => encodeSingle(new MessageWriter(), 7, { ...command, entries: [] }), RangeError);
});

test('KERNEL-1 adding several entries in one message has the bytes of ipset restore', () => {
  const command: EntryCommand = { kind: 'add', name: 'A', entries: [web('10.0.0.5'), web('10.0.0.6')] };
  const expected = `80000000 0906 0502 01000000 00000000 02000000 05000100 07000000 06000200 41000000
    08000940 00000001 54000880
    28000780 0c000180 08000140 0a000005 06000440 00500000 05000700 06000000 08000940 00000001
    28000780 0c000180 08000140 0a000006 06000440 00500000 05000700 06000000 08000940 00000002`;
  assert.equal(
    message(IpsetMessage.ADD, Flag.ACK | Flag.EXCL, writer => encodeSeveral(writer, 7, command)),
    hex(expected),
  );
});

test('KERNEL-4 commands print as lines of ipset restore', () => {
  const commands: Command[] = [
    { kind: 'create', set: { name: 'A', type: 'hash:ip,port', family: 'IPv4', hashsize: 1024, maxelem: 65536 } },
    { kind: 'add', name: 'A', entries: [{ ...web('10.96.0.1'), timeout: 5 }, web('10.96.0.2')] },
    { kind: 'del', name: 'A', entries: [{ ...web('10.96.0.1'), timeout: 5 }] },
    { kind: 'swap', name: 'A', name2: 'B' },
    { kind: 'destroy' },
  ];
  assert.deepEqual(commands.map(printCommand), [
    'create A hash:ip,port family inet hashsize 1024 maxelem 65536',
    'add A 10.96.0.1,tcp:80 timeout 5\nadd A 10.96.0.2,tcp:80',
    'del A 10.96.0.1,tcp:80',
    'swap A B',
    'destroy',
  ]);
});

test('KERNEL-1 splits entries of any size into parts that fit into a message, in order and without loss', () => {
  const largest: Entry = {
    kind: 'hash:ip,port,net',
    ip: 'fd00::1' as Ip,
    protocol: L4.UDP,
    port: 53,
    net: { address: 'fd00::' as Ip, prefix: 64 },
    timeout: 1,
    packets: 1n,
    bytes: 1n,
    nomatch: true,
    comment: 'c'.repeat(255),
  };
  const { comment: _, ...bare } = largest;
  for (const entry of [largest, bare]) {
    const entries = Array.from({ length: 2000 }, (_, timeout) => ({ ...entry, timeout }));
    const parts = splitCommands([{ kind: 'add', name: 'A', entries }]);
    assert.ok(parts.length > 1);
    assert.deepEqual(
      parts.flatMap(part => part.entries),
      entries,
    );
    for (const part of parts) encodeSeveral(new MessageWriter().begin(0, 0, 0), 7, part);
  }
  assert.deepEqual(splitCommands([{ kind: 'add', name: 'A', entries: [] }]), []);
});
