import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { node } from '../../test/support/objects.ts';
import { FAMILIES, type Ip, parseIp } from '../net/index.ts';
import { detectNodeIPs } from './node.ts';
import { parseNodePortAddresses, resolveNodePortKeywords, selectNodePortIPs } from './node-port-addresses.ts';

describe('addresses for node ports', () => {
  const ips = (...texts: string[]) => texts.map(text => parseIp(text)).filter((ip): ip is Ip => ip !== undefined);
  const own = ips('10.0.0.1', '127.0.0.1', '192.168.1.1', '192.168.1.1', 'fd00::1', '::1', '2001:db8::1');
  const cases: [string, string[], string[], string[]][] = [
    ['an empty list', [], ['10.0.0.1', '127.0.0.1', '192.168.1.1'], ['fd00::1', '::1', '2001:db8::1']],
    ['one IPv4 range', ['10.0.0.0/8'], ['10.0.0.1'], ['fd00::1', '::1', '2001:db8::1']],
    [
      'the range of all IPv4 addresses',
      ['0.0.0.0/0'],
      ['10.0.0.1', '127.0.0.1', '192.168.1.1'],
      ['fd00::1', '::1', '2001:db8::1'],
    ],
    [
      'several IPv6 ranges',
      ['fd00::/16', '2001:db8::/64'],
      ['10.0.0.1', '127.0.0.1', '192.168.1.1'],
      ['fd00::1', '2001:db8::1'],
    ],
    ['the range of localhost', ['127.0.0.1/32'], ['127.0.0.1'], ['fd00::1', '::1', '2001:db8::1']],
    ['a range that no address is in', ['172.16.0.0/12'], [], ['fd00::1', '::1', '2001:db8::1']],
    [
      'a range beside the range of all addresses',
      ['1.2.3.0/24', '0.0.0.0/0'],
      ['10.0.0.1', '127.0.0.1', '192.168.1.1'],
      ['fd00::1', '::1', '2001:db8::1'],
    ],
    [
      'ranges of both families',
      ['0.0.0.0/0', '1.2.3.0/24', '2001:db8::1/128'],
      ['10.0.0.1', '127.0.0.1', '192.168.1.1'],
      ['2001:db8::1'],
    ],
    [
      'ranges beside the range of all IPv6 addresses',
      ['::/0', '1.2.3.0/24', '2001:db8::1/128'],
      [],
      ['fd00::1', '::1', '2001:db8::1'],
    ],
  ];
  for (const [what, cidrs, want4, want6] of cases) {
    test(`MODEL-18 the addresses for node ports are right with ${what}`, () => {
      assert.deepEqual(selectNodePortIPs(parseNodePortAddresses('IPv4', cidrs), own), want4);
      assert.deepEqual(selectNodePortIPs(parseNodePortAddresses('IPv6', cidrs), own), want6);
    });
  }

  const loopback: [string[], boolean, boolean][] = [
    [[], true, true],
    [['0.0.0.0/0'], true, true],
    [['10.0.0.0/8'], false, false],
    [['127.0.0.0/8'], true, false],
    [['127.0.2.0/28'], true, false],
    [['64.0.0.0/2'], true, false],
    [['128.0.0.0/1'], false, false],
    [['::1/128'], true, true],
    [['1.2.3.0/24', '127.0.0.1/32'], true, false],
  ];
  for (const [cidrs, contains, all] of loopback) {
    test(`MODEL-18 ${cidrs.join(', ') || 'an empty list'} ${contains ? 'contains' : 'does not contain'} the IPv4 loopback`, () => {
      const addresses = parseNodePortAddresses('IPv4', cidrs);
      assert.deepEqual([addresses.containsIPv4Loopback, addresses.matchAll], [contains, all]);
      assert.equal(parseNodePortAddresses('IPv6', cidrs).containsIPv4Loopback, false);
    });
  }

  const explicit: [string[], boolean, boolean][] = [
    [[], false, false],
    [['127.0.0.0/8'], true, false],
    [['127.0.0.1/32'], true, false],
    [['::1/128'], false, true],
    [['0.0.0.0/0', '::/0'], false, false],
    [['0.0.0.0/0', '127.0.0.0/8'], true, false],
    [['::1/128', '::/0'], false, true],
    [['126.0.0.0/7'], false, false],
    [['192.168.1.1/32', '::/127'], false, false],
  ];
  for (const [cidrs, four, six] of explicit) {
    test(`MODEL-18 ${cidrs.join(', ') || 'an empty list'} ${four || six ? 'names' : 'does not name'} loopback itself`, () => {
      assert.equal(parseNodePortAddresses('IPv4', cidrs).containsExplicitLoopback, four);
      assert.equal(parseNodePortAddresses('IPv6', cidrs).containsExplicitLoopback, six);
    });
  }

  test('MODEL-18 `primary` means the known addresses of the node', () => {
    const resolve = (internalIPs: string[]) =>
      resolveNodePortKeywords(['primary'], detectNodeIPs(node('n', { internalIPs }), ''));
    assert.deepEqual(resolve(['fd00::1', '10.0.0.1']), ['10.0.0.1/32', 'fd00::1/128']);
    assert.deepEqual(resolve(['10.0.0.1']), ['10.0.0.1/32']);
    assert.deepEqual(resolve([]), []);
    assert.deepEqual(resolveNodePortKeywords(['10.0.0.0/8'], detectNodeIPs(undefined, '')), ['10.0.0.0/8']);
  });

  test('MODEL-18 keywords and ranges mix freely, and keep their order', () => {
    const nodeIPs = detectNodeIPs(node('n', { internalIPs: ['10.0.0.1'] }), '');
    assert.deepEqual(resolveNodePortKeywords(['fd00::/8', 'localhost', 'primary', '1.2.3.0/24', 'all'], nodeIPs), [
      'fd00::/8',
      '127.0.0.0/8',
      '::1/128',
      '10.0.0.1/32',
      '1.2.3.0/24',
      '0.0.0.0/0',
      '::/0',
    ]);
  });

  test('MODEL-18 keywords select these addresses of the machine', () => {
    const nodeIPs = detectNodeIPs(node('n', { internalIPs: ['10.0.0.1'] }), '');
    const selected = (...texts: string[]) =>
      FAMILIES.flatMap(family =>
        selectNodePortIPs(parseNodePortAddresses(family, resolveNodePortKeywords(texts, nodeIPs)), own),
      );
    const all = ['10.0.0.1', '127.0.0.1', '192.168.1.1', 'fd00::1', '::1', '2001:db8::1'];
    assert.deepEqual(selected('localhost'), ['127.0.0.1', '::1']);
    assert.deepEqual(selected('all'), all);
    assert.deepEqual(selected('primary', 'all'), all);
    assert.deepEqual(selected('primary'), ['10.0.0.1', 'fd00::1', '::1', '2001:db8::1'], 'no IPv6 range: all of IPv6');
    assert.deepEqual(selected('primary', 'localhost'), ['10.0.0.1', '127.0.0.1', '::1']);
    assert.deepEqual(selected('primary', '192.168.0.0/16', '2001:db8::/64'), [
      '10.0.0.1',
      '192.168.1.1',
      '2001:db8::1',
    ]);
  });
});
