import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeBatch } from './batch.ts';
import { dataBytes } from './data.ts';
import type { Element } from './element.ts';
import type { Rule } from './rule.ts';
import type { NftMap, NftSet } from './set.ts';
import { Transaction } from './transaction.ts';

// The expected bytes are those that nft 1.0.6 sends after the header. For concatenations nft also stores a `typeof`,
// which is left out here. nft gives every set of a script an id and repeats it with its elements, so these cases do
// too.

const KP = '02000000 0700 0100 6b700000'; // family ip, table kp

const clusterIps: NftSet = {
  kind: 'set',
  name: 'cluster-ips',
  type: ['ipv4_addr'],
  comment: 'Active ClusterIPs',
  id: 1,
};
const ports: NftSet = { kind: 'set', name: 'ports', type: ['inet_proto', 'inet_service'], id: 2 };
const ranges: NftSet = { kind: 'set', name: 'ranges', type: ['ipv4_addr'], flags: ['interval'], id: 3 };
const fields: NftSet = { kind: 'set', name: 'crange', type: ['ipv4_addr', 'inet_service'], flags: ['interval'], id: 4 };
const affinity: NftSet = {
  kind: 'set',
  name: 'aff',
  type: ['ipv4_addr'],
  flags: ['dynamic', 'timeout'],
  timeout: 10_800_000,
  id: 5,
};
const timed: NftSet = {
  kind: 'set',
  name: 'tmo',
  type: ['ipv4_addr'],
  flags: ['timeout'],
  timeout: 86_400_000,
  gcInterval: 5000,
  size: 100,
  id: 6,
};
const devices: NftSet = { kind: 'set', name: 'const', type: ['ifname'], flags: ['constant'], id: 7 };
const serviceIps: NftMap = {
  kind: 'map',
  name: 'service-ips',
  type: ['ipv4_addr', 'inet_proto', 'inet_service'],
  data: ['verdict'],
  comment: 'svc',
  id: 8,
};
const endpoints: NftMap = {
  kind: 'map',
  name: 'endpoints',
  type: ['ipv4_addr', 'inet_proto', 'inet_service', 'mark'],
  data: ['ipv4_addr', 'inet_service'],
  id: 9,
};
const marks: NftMap = { kind: 'map', name: 'marks', type: ['mark'], data: ['ipv4_addr'], id: 10 };
const connections: NftSet = {
  kind: 'set',
  name: 'connections',
  type: ['ipv4_addr', 'inet_proto', 'inet_service'],
  counter: true,
  comment: 'by frontend',
  id: 11,
};
const counted: NftMap = { kind: 'map', name: 'counted', type: ['mark'], data: ['ipv4_addr'], counter: true, id: 2 };
const timedCounts: NftSet = {
  kind: 'set',
  name: 'cntt',
  type: ['ipv4_addr'],
  flags: ['timeout'],
  counter: true,
  id: 3,
};
const counts = { counter: { kind: 'counter', packets: 5n, bytes: 99n }, comment: 'x' } as const;
const plain: NftSet = { kind: 'set', name: 's', type: ['ipv4_addr'] };
const listed: NftSet = { kind: 'set', name: 'r', type: ['ipv4_addr'], flags: ['interval'] };
const open: NftSet = { ...listed, id: 1 };

const ip = (address: string): Buffer => dataBytes(['ipv4_addr'], [address]);
const element = (set: NftSet | NftMap, ...values: (string | number)[]): Element => ({
  kind: 'element',
  key: dataBytes(set.type, values),
});
const accept: Rule = { kind: 'rule', chain: 'reg', expressions: [{ kind: 'verdict', verdict: { kind: 'accept' } }] };
const drop: Rule = { ...accept, expressions: [{ kind: 'verdict', verdict: { kind: 'drop' } }] };
const table = { kind: 'table', family: 'ip', name: 'kp' } as const;
const chain = (name: string) => ({ kind: 'chain', name }) as const;

interface Case {
  readonly collect: (transaction: Transaction) => Transaction;
  readonly line: string;
  readonly header: string;
  readonly body: string;
}

const CASES: readonly Case[] = [
  {
    collect: t => t.add({ ...table, comment: 'rules for kube-proxy' }),
    line: 'add table ip kp { comment "rules for kube-proxy" ; }',
    header: '000a 0100',
    body: `${KP}08000200000000001b000600001572756c657320666f72206b7562652d70726f78790000`,
  },
  {
    collect: t => t.create({ kind: 'table', family: 'ip6', name: 't6' }),
    line: 'create table ip6 t6',
    header: '000a 0102',
    body: '0a00000007000100743600000800020000000000',
  },
  {
    collect: t => t.add({ kind: 'table', family: 'inet', name: 'd', dormant: true }),
    line: 'add table inet d { flags dormant ; }',
    header: '000a 0100',
    body: '0100000006000100640000000800020000000001',
  },
  {
    collect: t => t.add({ kind: 'table', family: 'inet', name: 'x', owned: true }),
    line: 'add table inet x { flags owner ; }',
    header: '000a 0100',
    body: '0100000006000100780000000800020000000002',
  },
  {
    collect: t =>
      t.add({
        kind: 'chain',
        name: 'nat-pre',
        base: { type: 'nat', hook: 'prerouting', priority: -100 },
        comment: 'base',
      }),
    line: 'add chain ip kp nat-pre { type nat hook prerouting priority -100 ; comment "base" ; }',
    header: '030a 0104',
    body: `${KP}0c0003006e61742d70726500080007006e61740014000480080001000000000008000200ffffff9c0b000c000005626173650000`,
  },
  {
    collect: t =>
      t.add({
        kind: 'chain',
        name: 'filter-in',
        base: { type: 'filter', hook: 'input', priority: 0, policy: 'drop' },
      }),
    line: 'add chain ip kp filter-in { type filter hook input priority 0 ; policy drop ; }',
    header: '030a 0104',
    body: `${KP}0e00030066696c7465722d696e0000000b00070066696c746572000008000500000000001400048008000100000000010800020000000000`,
  },
  {
    collect: t => t.add({ ...chain('target'), comment: 'hello' }),
    line: 'add chain ip kp target { comment "hello" ; }',
    header: '030a 0104',
    body: `${KP}0b00030074617267657400000c000c00000668656c6c6f00`,
  },
  {
    collect: t => t.create(chain('cc')),
    line: 'create chain ip kp cc',
    header: '030a 0106',
    body: `${KP}0700030063630000`,
  },
  {
    collect: t => t.add(clusterIps),
    line: 'add set ip kp cluster-ips { type ipv4_addr ; comment "Active ClusterIPs" ; }',
    header: '090a 0104',
    body: `${KP}10000200636c75737465722d6970730008000300000000000800040000000007080005000000000408000a00000000011e000d00000402000000071241637469766520436c7573746572495073000000`,
  },
  {
    collect: t => t.add(ports),
    line: 'add set ip kp ports { type inet_proto . inet_service ; }',
    header: '090a 0104',
    body: `${KP}0a000200706f7274730000000800030000000000080004000000030d080005000000000808000a00000000020a000d000004000000000000`,
  },
  {
    collect: t => t.add(ranges),
    line: 'add set ip kp ranges { type ipv4_addr ; flags interval ; }',
    header: '090a 0104',
    body: `${KP}0b00020072616e676573000008000300000000040800040000000007080005000000000408000a00000000030a000d000004020000000000`,
  },
  {
    collect: t => t.add(fields),
    line: 'add set ip kp crange { type ipv4_addr . inet_service ; flags interval ; }',
    header: '090a 0104',
    body: `${KP}0b0002006372616e67650000080003000000008408000400000001cd080005000000000808000a0000000004200009801c0002800c00018008000100000000040c00018008000100000000020a000d000004000000000000`,
  },
  {
    collect: t => t.add(affinity),
    line: 'add set ip kp aff { type ipv4_addr ; flags dynamic,timeout ; timeout 3h ; }',
    header: '090a 0104',
    body: `${KP}080002006166660008000300000000300800040000000007080005000000000408000a00000000050c000b000000000000a4cb800a000d000004020000000000`,
  },
  {
    collect: t => t.add(timed),
    line: 'add set ip kp tmo { type ipv4_addr ; flags timeout ; timeout 1d ; gc-interval 5s ; size 100 ; }',
    header: '090a 0104',
    body: `${KP}08000200746d6f0008000300000000100800040000000007080005000000000408000a00000000060c00098008000100000000640c000b000000000005265c0008000c00000013880a000d000004020000000000`,
  },
  {
    collect: t => t.add(devices),
    line: 'add set ip kp const { type ifname ; flags constant ; }',
    header: '090a 0104',
    body: `${KP}0a000200636f6e737400000008000300000000020800040000000029080005000000001008000a00000000070a000d000004010000000000`,
  },
  {
    collect: t => t.add(serviceIps),
    line: 'add map ip kp service-ips { type ipv4_addr . inet_proto . inet_service : verdict ; comment "svc" ; }',
    header: '090a 0104',
    body: `${KP}10000200736572766963652d697073000800030000000008080004000000730d080005000000000c08000600ffffff00080007000000000008000a00000000081c000d00000400000000010400000000060400000000070473766300`,
  },
  {
    collect: t => t.add(endpoints),
    line: 'add map ip kp endpoints { type ipv4_addr . inet_proto . inet_service . mark : ipv4_addr . inet_service ; }',
    header: '090a 0104',
    body: `${KP}0e000200656e64706f696e7473000000080003000000000808000400001cc353080005000000001008000600000001cd080007000000000808000a000000000916000d000004000000000104000000000604000000000000`,
  },
  {
    collect: t => t.add(marks),
    line: 'add map ip kp marks { type mark : ipv4_addr ; }',
    header: '090a 0104',
    body: `${KP}0a0002006d61726b730000000800030000000008080004000000001308000500000000040800060000000007080007000000000408000a000000000a16000d000004010000000104020000000604000000000000`,
  },
  {
    collect: t => t.add(connections),
    line: 'add set ip kp connections { type ipv4_addr . inet_proto . inet_service ; counter ; comment "by frontend" ; }',
    header: '090a 0104',
    body: `${KP}10000200636f6e6e656374696f6e73000800030000000000080004000000730d080005000000000c08000a000000000b18000d00000400000000070c62792066726f6e74656e6400140011800c000100636f756e7465720004000280`,
  },
  {
    collect: t => t.add(counted),
    line: 'add map ip kp counted { type mark : ipv4_addr ; counter ; }',
    header: '090a 0104',
    body: `${KP}0c000200636f756e746564000800030000000008080004000000001308000500000000040800060000000007080007000000000408000a000000000216000d000004010000000104020000000604000000000000140011800c000100636f756e7465720004000280`,
  },
  {
    collect: t => t.addElements(connections, [{ ...element(connections, '10.96.0.2', 'tcp', 80), ...counts }]),
    line: 'add element ip kp connections { 10.96.0.2 . tcp . 80 counter packets 5 bytes 99 comment "x" }',
    header: '0c0a 0104',
    body: `${KP}10000200636f6e6e656374696f6e7300080004000000000b500003804c00018014000180100001000a600002060000000050000008000600000278002c0007800c000100636f756e746572001c0002800c00010000000000000000630c0002000000000000000005`,
  },
  {
    collect: t => t.addElements(counted, [{ ...element(counted, 0x10), data: ip('1.2.3.4'), ...counts }]),
    line: 'add element ip kp counted { 0x00000010 counter packets 5 bytes 99 comment "x" : 1.2.3.4 }',
    header: '0c0a 0104',
    body: `${KP}0c000200636f756e74656400080004000000000254000380500001800c00018008000100100000000c000280080001000102030408000600000278002c0007800c000100636f756e746572001c0002800c00010000000000000000630c0002000000000000000005`,
  },
  {
    collect: t => t.addElements(timedCounts, [{ ...element(timedCounts, '1.1.1.1'), timeout: 3_600_000, ...counts }]),
    line: 'add element ip kp cntt { 1.1.1.1 counter packets 5 bytes 99 timeout 1h comment "x" }',
    header: '0c0a 0104',
    body: `${KP}09000200636e747400000000080004000000000354000380500001800c000400000000000036ee800c000180080001000101010108000600000278002c0007800c000100636f756e746572001c0002800c00010000000000000000630c0002000000000000000005`,
  },
  {
    collect: t =>
      t.addElements(clusterIps, [
        element(clusterIps, '10.96.0.1'),
        { ...element(clusterIps, '10.96.0.2'), comment: 'two' },
      ]),
    line: 'add element ip kp cluster-ips { 10.96.0.1 }\nadd element ip kp cluster-ips { 10.96.0.2 comment "two" }',
    header: '0c0a 0104',
    body: `${KP}10000200636c75737465722d69707300080004000000000130000380100001800c000180080001000a6000011c0002800c000180080001000a6000020a000600000474776f000000`,
  },
  {
    collect: t =>
      t.addElements(serviceIps, [
        {
          ...element(serviceIps, '10.96.0.10', 'tcp', 80),
          verdict: { kind: 'goto', chain: 'target' },
          comment: 'default/web',
        },
      ]),
    line: 'add element ip kp service-ips { 10.96.0.10 . tcp . 80 comment "default/web" : goto target }',
    header: '0c0a 0104',
    body: `${KP}10000200736572766963652d6970730008000400000000084c0003804800018014000180100001000a60000a06000000005000001c0002801800028008000100fffffffc0b000200746172676574000012000600000c64656661756c742f776562000000`,
  },
  {
    collect: t =>
      t.addElements(serviceIps, [{ ...element(serviceIps, '10.96.0.11', 'udp', 53), verdict: { kind: 'drop' } }]),
    line: 'add element ip kp service-ips { 10.96.0.11 . udp . 53 : drop }',
    header: '0c0a 0104',
    body: `${KP}10000200736572766963652d6970730008000400000000082c0003802800018014000180100001000a60000b1100000000350000100002800c0002800800010000000000`,
  },
  {
    collect: t =>
      t.addElements(endpoints, [
        {
          ...element(endpoints, '10.96.0.10', 'tcp', 80, 1),
          data: dataBytes(['ipv4_addr', 'inet_service'], ['10.244.1.2', 8080]),
        },
      ]),
    line: 'add element ip kp endpoints { 10.96.0.10 . tcp . 80 . 0x00000001 : 10.244.1.2 . 8080 }',
    header: '0c0a 0104',
    body: `${KP}0e000200656e64706f696e74730000000800040000000009300003802c00018018000180140001000a60000a060000000050000001000000100002800c0001000af401021f900000`,
  },
  {
    collect: t =>
      t.addElements(ranges, [
        element(ranges, '1.1.1.1'),
        { ...element(ranges, '10.0.0.0'), keyEnd: ip('10.255.255.255') },
        { ...element(ranges, '192.168.1.1'), keyEnd: ip('192.168.1.9') },
      ]),
    line: [
      'add element ip kp ranges { 1.1.1.1 }',
      'add element ip kp ranges { 10.0.0.0/8 }',
      'add element ip kp ranges { 192.168.1.1-192.168.1.9 }',
    ].join('\n'),
    header: '0c0a 0104',
    body: `${KP}0b00020072616e676573000008000400000000037c000380100001800c00018008000100010101011800028008000300000000010c0001800800010001010102100003800c000180080001000a0000001800048008000300000000010c000180080001000b000000100005800c00018008000100c0a801011800068008000300000000010c00018008000100c0a8010a`,
  },
  {
    collect: t =>
      t.addElements(open, [
        { ...element(open, '0.0.0.0'), keyEnd: ip('0.255.255.255'), comment: 'zero' },
        { ...element(open, '255.255.255.0'), keyEnd: ip('255.255.255.255') },
      ]),
    line: 'add element ip kp r { 0.0.0.0/8 comment "zero" }\nadd element ip kp r { 255.255.255.0/24 }',
    header: '0c0a 0104',
    body: `${KP}06000200720000000800040000000001540003801c0001800c00018008000100000000000b00060000057a65726f00001800028008000300000000010c00018008000100010000001c0003800c00018008000100ffffff000a0006000104010000000000`,
  },
  {
    collect: t =>
      t.addElements(fields, [
        { ...element(fields, '10.0.0.0', 80), keyEnd: dataBytes(fields.type, ['10.255.255.255', 90]) },
        element(fields, '1.1.1.1', 5),
      ]),
    line: 'add element ip kp crange { 10.0.0.0/8 . 80-90 }\nadd element ip kp crange { 1.1.1.1 . 5 }',
    header: '0c0a 0104',
    body: `${KP}0b0002006372616e6765000008000400000000044c00038024000180100001800c0001000a0000000050000010000a800c0001000affffff005a000024000280100001800c000100010101010005000010000a800c0001000101010100050000`,
  },
  {
    collect: t =>
      t.addElements(timed, [
        { ...element(timed, '1.1.1.1'), timeout: 300_000 },
        { ...element(timed, '1.1.1.2'), timeout: 10_000, expires: 4000 },
      ]),
    line: 'add element ip kp tmo { 1.1.1.1 timeout 5m }\nadd element ip kp tmo { 1.1.1.2 timeout 10s expires 4s }',
    header: '0c0a 0104',
    body: `${KP}08000200746d6f000800040000000006480003801c0001800c00040000000000000493e00c0001800800010001010101280002800c00040000000000000027100c0005000000000000000fa00c0001800800010001010102`,
  },
  {
    collect: t => t.addElements(devices, [element(devices, 'eth0')]),
    line: 'add element ip kp const { "eth0" }',
    header: '0c0a 0104',
    body: `${KP}0a000200636f6e73740000000800040000000007200003801c000180180001801400010065746830000000000000000000000000`,
  },
  {
    collect: t => t.addElements(marks, [{ ...element(marks, 0x10), data: ip('1.2.3.4') }]),
    line: 'add element ip kp marks { 0x00000010 : 1.2.3.4 }',
    header: '0c0a 0104',
    body: `${KP}0a0002006d61726b73000000080004000000000a200003801c0001800c00018008000100100000000c0002800800010001020304`,
  },
  {
    collect: t => t.createElements({ ...plain, name: 'cs', id: 1 }, [element(plain, '9.9.9.9')]),
    line: 'create element ip kp cs { 9.9.9.9 }',
    header: '0c0a 0106',
    body: `${KP}0700020063730000080004000000000114000380100001800c0001800800010009090909`,
  },
  {
    collect: t => t.deleteElements(plain, [{ ...element(plain, '1.1.1.1'), comment: 'not sent', timeout: 1 }]),
    line: 'delete element ip kp s { 1.1.1.1 }',
    header: '0e0a 0100',
    body: `${KP}060002007300000014000380100001800c0001800800010001010101`,
  },
  {
    collect: t => t.deleteElements(listed, [{ ...element(listed, '10.0.0.0'), keyEnd: ip('10.255.255.255') }]),
    line: 'delete element ip kp r { 10.0.0.0/8 }',
    header: '0e0a 0100',
    body: `${KP}06000200720000002c000380100001800c000180080001000a0000001800028008000300000000010c000180080001000b000000`,
  },
  {
    collect: t => t.add({ ...accept, comment: 'all of them' }),
    line: 'add rule ip kp reg accept comment "all of them"',
    header: '060a 010c',
    body: `${KP}080002007265670034000480300001800e000100696d6d6564696174650000001c0002800800010000000000100002800c000280080001000000000112000700000c616c6c206f66207468656d000000`,
  },
  {
    collect: t => t.add({ ...drop, position: 2, comment: 'c' }),
    line: 'add rule ip kp reg handle 2 drop comment "c"',
    header: '060a 010c',
    body: `${KP}080002007265670034000480300001800e000100696d6d6564696174650000001c0002800800010000000000100002800c00028008000100000000000c00060000000000000000020800070000026300`,
  },
  {
    collect: t => t.insert(drop),
    line: 'insert rule ip kp reg drop',
    header: '060a 0104',
    body: `${KP}080002007265670034000480300001800e000100696d6d6564696174650000001c0002800800010000000000100002800c0002800800010000000000`,
  },
  {
    collect: t => t.delete({ kind: 'rule', chain: 'reg', handle: 9 }),
    line: 'delete rule ip kp reg handle 9',
    header: '080a 0100',
    body: `${KP}08000200726567000c0003000000000000000009`,
  },
  {
    collect: t => t.flush(chain('reg')),
    line: 'flush chain ip kp reg',
    header: '080a 0100',
    body: `${KP}0800020072656700`,
  },
  {
    // nft writes the two names in the other order.
    collect: t => t.flush(plain),
    line: 'flush set ip kp s',
    header: '0e0a 0100',
    body: `${KP}0600020073000000`,
  },
  {
    collect: t => t.flush(table),
    line: 'flush table ip kp',
    header: '080a 0100',
    body: KP,
  },
  {
    collect: t => t.delete({ ...plain, name: 's2' }),
    line: 'delete set ip kp s2',
    header: '0b0a 0100',
    body: `${KP}0700020073320000`,
  },
  {
    collect: t => t.delete(chain('reg2')),
    line: 'delete chain ip kp reg2',
    header: '050a 0100',
    body: `${KP}090003007265673200000000`,
  },
  {
    collect: t => t.delete({ kind: 'table', family: 'ip6', name: 't6' }),
    line: 'delete table ip6 t6',
    header: '020a 0100',
    body: '0a0000000700010074360000',
  },
];

for (const { collect, line, header, body } of CASES) {
  test(`KERNEL-1 sends the bytes of nft: ${line.split('\n')[0]}`, () => {
    // The first and the last command have extra flags for an echo and an acknowledgement.
    const transaction = collect(new Transaction('ip', 'kp').add(table)).delete(table);
    assert.equal(transaction.toString(), `add table ip kp\n${line}\ndelete table ip kp\n`);
    const { bytes, origins } = encodeBatch(transaction, 1);
    assert.equal(origins.length, 3);
    const message = bytes.subarray(origins[1]?.at, origins[2]?.at);
    assert.equal(message.readUInt32LE(0), message.length);
    assert.equal(message.subarray(4, 8).toString('hex'), header.replaceAll(' ', ''));
    assert.equal(message.subarray(16).toString('hex'), body.replaceAll(' ', ''));
  });
}

test('KERNEL-1 destroy adds and deletes an object, and adds a chain without its base properties', () => {
  const base = { type: 'nat', hook: 'output', priority: -100 } as const;
  const transaction = new Transaction('ip', 'kp')
    .destroy(table)
    .destroy({ ...chain('c'), base })
    .destroy(plain);
  assert.deepEqual(
    [...transaction.lines()],
    [
      'add table ip kp',
      'delete table ip kp',
      'add chain ip kp c',
      'delete chain ip kp c',
      'add set ip kp s { type ipv4_addr ; }',
      'delete set ip kp s',
    ],
  );
});
