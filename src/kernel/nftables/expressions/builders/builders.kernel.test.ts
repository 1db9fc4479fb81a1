import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listedByNft, listedHere } from '../../../../../test/support/nft-listing.ts';
import { type Cidr, type Ip, parseCidr, parseIp } from '../../../../net/index.ts';
import { NetworkNamespace } from '../../../netns.ts';
import { type Chain, type DataType, NftablesSocket, type SetOrMap, Transaction } from '../../index.ts';
import type { Expression } from '../expression.ts';
import * as nft from './index.ts';

type RuleCase = readonly [chain: string, expressions: readonly Expression[], text: string];

const MASQUERADE = 0x4000;

test('KERNEL-11 nft lists every rule that the modes write for IPv4 as expected', async () => {
  await assertListed('ip', [...rulesOf('ip', ip('10.244.1.5')), ...detectors('ip', cidr('10.244.0.0/16'))]);
  await assertListed('ip', [
    ['check', [...nft.matchAddress('daddr', cidr('127.0.0.0/8'), 'neq')], 'ip daddr != 127.0.0.0/8'],
    ['check', [...nft.matchAddress('daddr', cidr('10.96.0.0/12')), nft.drop], 'ip daddr 10.96.0.0/12 drop'],
    ['check', [...nft.matchAddress('saddr', cidr('0.0.0.0/0'), 'neq')], 'ip saddr != 0.0.0.0/0'],
  ]);
});

test('KERNEL-11 nft lists every rule that the modes write for IPv6 as expected', async () => {
  await assertListed('ip6', [...rulesOf('ip6', ip('fd00:10:244:1::5')), ...detectors('ip6', cidr('fd00:10:244::/56'))]);
  await assertListed('ip6', [
    ['check', [...nft.matchAddress('daddr', cidr('::1/128'), 'neq')], 'ip6 daddr != ::1'],
    ['check', [...nft.matchAddress('daddr', cidr('fd00:10:96::/108')), nft.drop], 'ip6 daddr fd00:10:96::/108 drop'],
  ]);
});

test('KERNEL-11 rules of an inet table match the family first, and nft does not print that match', async () => {
  await assertListed('inet', [
    ['check', [...nft.matchNfproto('ip'), ...nft.matchSet([nft.ipSaddr('ip')], 'addresses')], 'ip saddr @addresses'],
    ['check', [nft.reject('inet')], 'reject'],
    [
      'nat',
      [...nft.matchNfproto('ip'), ...nft.matchL4proto('tcp'), ...nft.dnatTo(ip('10.0.0.1'), 80)],
      'meta nfproto ipv4 meta l4proto tcp dnat ip to 10.0.0.1:80',
    ],
  ]);
});

/** Rules for all kinds of chains, for one family. */
function rulesOf(family: nft.PacketFamily, endpoint: Ip): RuleCase[] {
  const [saddr, daddr] = [nft.ipSaddr(family), nft.ipDaddr(family)];
  const service = [daddr, nft.metaL4proto, nft.thDport];
  const key = `${family} daddr . meta l4proto . th dport`;
  const target = family === 'ip' ? `${endpoint}:8080` : `[${endpoint}]:8080`;
  return [
    ['check', [...nft.matchCtState('new'), nft.jump('r')], 'ct state new jump r'],
    ['check', [nft.goto('r')], 'goto r'],
    ['check', [nft.returns], 'return'],
    ['check', [...nft.matchSet([daddr], 'addresses'), nft.reject(family)], `${family} daddr @addresses reject`],
    ['check', [...nft.matchSet([saddr], 'addresses', 'neq'), nft.drop], `${family} saddr != @addresses drop`],
    ['check', [...nft.matchL4proto('tcp'), nft.rejectWithTcpReset], 'reject with tcp reset'],
    ['check', nft.vmap(service, 'services'), `${key} vmap @services`],
    [
      'check',
      [...nft.matchSet([daddr], 'addresses'), ...nft.vmap([nft.metaL4proto, nft.thDport], 'nodeports')],
      `${family} daddr @addresses meta l4proto . th dport vmap @nodeports`,
    ],
    [
      'check',
      [...nft.matchFibType('daddr', 'local'), ...nft.vmap([nft.metaL4proto, nft.thDport], 'nodeports')],
      'fib daddr type local meta l4proto . th dport vmap @nodeports',
    ],
    ['check', nft.markOr(MASQUERADE), 'meta mark set meta mark | 0x00004000'],
    ['check', nft.markAnd(~MASQUERADE), 'meta mark set meta mark & 0xffffbfff'],
    [
      'check',
      [...nft.matchFibType('saddr', 'local'), ...nft.markOr(MASQUERADE)],
      'fib saddr type local meta mark set meta mark | 0x00004000',
    ],
    ['check', nft.ctMarkOr(1), 'ct mark set ct mark | 0x00000001'],
    ['check', nft.setMark(nft.constant(nft.host32(7))), 'meta mark set 0x00000007'],
    ['check', nft.setMark(nft.map(service, 'counts', 4)), `meta mark set ${key} map @counts`],
    ['check', nft.vmap([nft.metaMark], 'by-count'), 'meta mark vmap @by-count'],
    ['check', nft.updateElement('affinity', [saddr]), `update @affinity { ${family} saddr }`],
    [
      'check',
      nft.updateElement('affinity', [saddr], { timeout: 10_800_000 }),
      `update @affinity { ${family} saddr timeout 3h }`,
    ],
    ['check', nft.addElement('affinity', [saddr]), `add @affinity { ${family} saddr }`],
    ['check', nft.deleteElement('affinity', [saddr]), `delete @affinity { ${family} saddr }`],
    [
      'check',
      nft.updateElement('stickiness', [saddr, ...service], { data: [nft.numgen('random', 3)] }),
      `update @stickiness { ${family} saddr . ${key} : numgen random mod 3 }`,
    ],
    ['check', nft.matchPort('dport', 80), 'th dport 80'],
    ['check', nft.matchPort('sport', 1024, 'gte'), 'th sport >= 1024'],
    ['check', [nft.counter(), nft.accept], 'counter packets 0 bytes 0 accept'],
    ['check', [nft.log('dropped: ', 3)], 'log prefix "dropped: " group 3'],
    [
      'check',
      nft.matchSet([nft.ctAddress(family, 'original', 'daddr')], 'addresses'),
      `ct original ${family} daddr @addresses`,
    ],
    ...natRules(family, endpoint, target, key, service),
  ];
}

function natRules(
  family: nft.PacketFamily,
  endpoint: Ip,
  target: string,
  key: string,
  service: readonly nft.Selector[],
): RuleCase[] {
  const slots = [...service, nft.numgen('random', 3)];
  return [
    ['nat', [...nft.matchL4proto('tcp'), ...nft.dnatTo(endpoint, 8080)], `meta l4proto tcp dnat to ${target}`],
    ['nat', nft.dnatTo(endpoint), `dnat to ${endpoint}`],
    ['nat', nft.dnatToMap(family, slots, 'endpoints'), `dnat ${family} to ${key} . numgen random mod 3 map @endpoints`],
    [
      'nat',
      // nft prints the match on the protocol as a part of `tcp dport`.
      [...nft.matchL4proto('tcp'), ...nft.dnatToMap(family, slots, 'endpoints')],
      `dnat ${family} to ${family} daddr . meta l4proto . tcp dport . numgen random mod 3 map @endpoints`,
    ],
    [
      'nat',
      nft.dnatToMap(family, [...service, nft.symhash(3)], 'endpoints'),
      `dnat ${family} to ${key} . symhash mod 3 map @endpoints`,
    ],
    [
      'nat',
      nft.dnatToMap(family, [...service, nft.jhash([nft.ipSaddr(family)], 3)], 'endpoints'),
      `dnat ${family} to ${key} . jhash ${family} saddr mod 3 map @endpoints`,
    ],
    [
      'masquerading',
      [...nft.matchMark(MASQUERADE, 'neq', 0), ...nft.markXor(MASQUERADE), nft.masquerade('fully-random')],
      'meta mark & 0x00004000 != 0x00000000 meta mark set meta mark ^ 0x00004000 masquerade fully-random',
    ],
    [
      'masquerading',
      [
        ...nft.matchCtStatus('dnat'),
        ...nft.matchSet([nft.ipSaddr(family), ...service], 'hairpins'),
        nft.masquerade('fully-random'),
      ],
      `ct status dnat ${family} saddr . ${key} @hairpins masquerade fully-random`,
    ],
  ];
}

/** The matches of each way to detect local traffic, and their opposites. */
function detectors(family: nft.PacketFamily, network: Cidr): RuleCase[] {
  const text = `${network.address}/${network.prefix}`;
  return [
    ['check', nft.matchAddress('saddr', network), `${family} saddr ${text}`],
    ['check', nft.matchAddress('saddr', network, 'neq'), `${family} saddr != ${text}`],
    ['check', nft.matchIifname('cni0'), 'iifname "cni0"'],
    ['check', nft.matchIifname('cni0', 'neq'), 'iifname != "cni0"'],
    ['check', nft.matchIifname('veth*'), 'iifname "veth*"'],
    ['check', nft.matchIifname('veth*', 'neq'), 'iifname != "veth*"'],
    ['check', nft.matchOifname('lo', 'neq'), 'oifname != "lo"'],
  ];
}

/**
 * Writes the rules; nft's listing, ours of what the kernel lists, and the meaning are the same, and so are the nodes.
 */
async function assertListed(family: 'ip' | 'ip6' | 'inet', cases: readonly RuleCase[]): Promise<void> {
  const namespace = NetworkNamespace.create();
  const socket = NftablesSocket.open({ namespace });
  try {
    const transaction = new Transaction(family, 't').add({ kind: 'table', family, name: 't' });
    for (const chain of CHAINS) transaction.add(chain);
    for (const set of setsOf(family === 'ip6' ? 'ipv6_addr' : 'ipv4_addr')) transaction.add(set);
    for (const [chain, expressions] of cases) transaction.add({ kind: 'rule', chain, expressions });
    await socket.commit(transaction);
    for (const { name } of CHAINS) {
      const own = cases.filter(([chain]) => chain === name);
      const rules = [...socket.listRules(family, 't', name)];
      assert.deepEqual(
        rules.map(rule => rule.expressions.map(withoutCounts)),
        own.map(([, expressions]) => expressions),
      );
    }
    const expected = CHAINS.flatMap(({ name }) => cases.filter(([chain]) => chain === name)).map(
      ([chain, , text]) => `${chain}: ${text}`,
    );
    assert.deepEqual(listedByNft(namespace, family, 't'), expected);
    assert.deepEqual(listedHere(namespace, family, 't'), expected);
  } finally {
    socket.close();
    namespace.close();
  }
}

/** Removes the numbers of a counter. The kernel lists them, but a new counter has none. */
function withoutCounts(expression: Expression): Expression {
  return expression.kind === 'counter' ? { kind: 'counter' } : expression;
}

const CHAINS: readonly Chain[] = [
  { kind: 'chain', name: 'r' },
  { kind: 'chain', name: 'check', base: { type: 'filter', hook: 'input', priority: 0 } },
  { kind: 'chain', name: 'nat', base: { type: 'nat', hook: 'prerouting', priority: -100 } },
  { kind: 'chain', name: 'masquerading', base: { type: 'nat', hook: 'postrouting', priority: 100 } },
];

function setsOf(address: DataType): SetOrMap[] {
  const service: readonly DataType[] = [address, 'inet_proto', 'inet_service'];
  return [
    { kind: 'set', name: 'addresses', type: [address] },
    { kind: 'set', name: 'hairpins', type: [address, ...service] },
    { kind: 'set', name: 'affinity', type: [address], flags: ['dynamic', 'timeout'], timeout: 10_800_000, size: 65535 },
    { kind: 'map', name: 'services', type: service, data: ['verdict'] },
    { kind: 'map', name: 'nodeports', type: ['inet_proto', 'inet_service'], data: ['verdict'] },
    { kind: 'map', name: 'counts', type: service, data: ['mark'] },
    { kind: 'map', name: 'by-count', type: ['mark'], data: ['verdict'] },
    { kind: 'map', name: 'endpoints', type: [...service, 'mark'], data: [address, 'inet_service'] },
    { kind: 'map', name: 'stickiness', type: [address, ...service], data: ['mark'], flags: ['dynamic'], size: 65535 },
  ];
}

function ip(text: string): Ip {
  const parsed = parseIp(text);
  assert.ok(parsed);
  return parsed;
}

function cidr(text: string): Cidr {
  const parsed = parseCidr(text);
  assert.ok(parsed);
  return parsed;
}
