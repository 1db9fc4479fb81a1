import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { cidrContains, formatCidr, isZeroCidr, parseCidr } from './cidr.ts';
import { familyOf, type Ip, ipBytes, ipFromBytes, joinHostPort, parseIp } from './ip.ts';

const canonical: [string, string | undefined][] = [
  ['10.0.0.1', '10.0.0.1'],
  ['010.000.0.001', '10.0.0.1'],
  ['10.0.0.256', undefined],
  ['10.0.1', undefined],
  ['10.0.0.1 ', undefined],
  ['', undefined],
  ['1', undefined],
  ['::', '::'],
  ['::1', '::1'],
  ['FD00:0:0:0::1', 'fd00::1'],
  ['fd00:0:0:1:0:0:0:1', 'fd00:0:0:1::1'],
  ['1:0:0:2:3:0:0:4', '1::2:3:0:0:4'],
  ['1:2:3:4:5:6:0:8', '1:2:3:4:5:6:0:8'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['::ffff:a01:203', '10.1.2.3'],
  ['64:ff9b::10.1.2.3', '64:ff9b::a01:203'],
  ['1:2:3:4:5:6:10.1.2.3', '1:2:3:4:5:6:a01:203'],
  ['fe80::1%eth0', undefined],
  ['1:2:3:4:5:6:7', undefined],
  ['1:2:3:4:5:6:7:8:9', undefined],
  ['1:2:3:4:5:6:7::8', undefined],
  ['1::2::3', undefined],
  ['1:2:3:4:5:6:7:', undefined],
  ['fd00::10000', undefined],
  [':1', undefined],
];

for (const [text, want] of canonical) {
  test(`MODEL-1 ${JSON.stringify(text)} parses as ${want ?? 'no address'}`, () => assert.equal(parseIp(text), want));
}

test('MODEL-1 every address is the same after conversion to bytes and back, and Node accepts it', () => {
  const address = fc.oneof(fc.ipV4(), fc.ipV6());
  fc.assert(
    fc.property(address, text => {
      const ip = parseIp(text);
      assert.ok(ip, text);
      assert.equal(parseIp(ip), ip);
      assert.equal(ipFromBytes(ipBytes(ip)), ip);
      assert.equal(isIP(ip), familyOf(ip) === 'IPv4' ? 4 : 6);
    }),
  );
});

test('MODEL-1 no text causes an exception, and a text that is refused is no address for Node either', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f:.%/]{0,20}$/)), text => {
      const ip = parseIp(text);
      if (ip === undefined) assert.ok(isIP(text) === 0 || text.includes('%'), text);
    }),
  );
});

test('MODEL-2 a parsed network has no host bits, and leading zeros are decimal', () => {
  const read = (text: string) => {
    const cidr = parseCidr(text);
    return cidr && formatCidr(cidr);
  };
  assert.equal(read('10.1.2.3/8'), '10.0.0.0/8');
  assert.equal(read('10.1.2.3/025'), '10.1.2.0/25');
  assert.equal(read('fd00::ffff/112'), 'fd00::/112');
  assert.equal(read('fd00:1:2:3::/49'), 'fd00:1:2::/49');
  assert.equal(read('0.0.0.0/0'), '0.0.0.0/0');
  for (const bad of ['10.0.0.0', '10.0.0.0/33', 'fd00::/129', '10.0.0.0/', '10.0.0.0/-1', '/8', ' 10.0.0.0/8']) {
    assert.equal(read(bad), undefined, bad);
  }
});

test('MODEL-2 a network contains its addresses, and the zero network contains all', () => {
  const cidr = parseCidr('192.168.0.0/23');
  assert.ok(cidr);
  assert.ok(cidrContains(cidr, '192.168.1.255' as Ip));
  assert.ok(!cidrContains(cidr, '192.168.2.0' as Ip));
  assert.ok(!cidrContains(cidr, 'fd00::1' as Ip));
  const zero = (text: string) => {
    const parsed = parseCidr(text);
    assert.ok(parsed);
    return isZeroCidr(parsed);
  };
  assert.deepEqual(['0.0.0.0/0', '::/0', '::/128', '0.0.0.0/1'].map(zero), [true, true, false, false]);
});

test('MODEL-1 a host and a port are joined, with brackets for IPv6', () => {
  assert.equal(joinHostPort('10.0.0.1', 80), '10.0.0.1:80');
  assert.equal(joinHostPort('fd00::1', 80), '[fd00::1]:80');
});
