import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { capturedWithout } from '../../../test/support/ipvs.ts';
import { captured, message } from '../../../test/support/netlink.ts';
import { type Family, type Ip, ipFromBytes, parseIp } from '../../net/index.ts';
import { CHANGE_COMMANDS, encodeChange, type IpvsChange, printChange } from './change.ts';
import { decodeService, encodeService, type Service, ServiceFlag } from './service.ts';
import { type IpvsProtocol, printKey, type ServiceKey } from './service-key.ts';

const FAMILY = 28;
const REQUEST_ACK = 5;

function key(address: string, port: number, protocol: IpvsProtocol = 'TCP'): ServiceKey {
  return { kind: 'address', protocol, address: parseIp(address) ?? assert.fail(address), port };
}

function sent(change: IpvsChange): string {
  const bytes = message(FAMILY, REQUEST_ACK, writer => {
    encodeChange(writer.struct(Buffer.from([CHANGE_COMMANDS[change.kind], 1, 0, 0])), change);
  });
  return bytes.fill(0, 8, 16).toString('hex');
}

const TCP_96_1 = '06000100020000000600020006000000140003000a6000010000000000000000000000000600040000500000';
const NEW: readonly { line: string; service: Service; hex: string }[] = [
  {
    line: '-A -t 10.96.0.1:80 -s rr',
    service: { key: key('10.96.0.1', 80), scheduler: 'rr' },
    hex: `680000001c000500bb6ff96a8903c03901010000 54000180 ${TCP_96_1}
      07000600727200000c00070000000000ffffffff080008000000000008000900ffffffff`,
  },
  {
    line: '-A -u 10.96.0.1:53 -s rr',
    service: { key: key('10.96.0.1', 53, 'UDP'), scheduler: 'rr' },
    hex: `680000001c000500bc6ff96a8d03003a01010000 54000180
      06000100020000000600020011000000140003000a6000010000000000000000000000000600040000350000
      07000600727200000c00070000000000ffffffff080008000000000008000900ffffffff`,
  },
  {
    line: '-A --sctp-service 10.96.0.1:9 -s lc',
    service: { key: key('10.96.0.1', 9, 'SCTP'), scheduler: 'lc' },
    hex: `680000001c000500bc6ff96a9103003a01010000 54000180
      06000100020000000600020084000000140003000a6000010000000000000000000000000600040000090000
      070006006c6300000c00070000000000ffffffff080008000000000008000900ffffffff`,
  },
  {
    line: '-A -t [fd00::1]:80 -s rr',
    service: { key: key('fd00::1', 80), scheduler: 'rr' },
    hex: `680000001c000500bd6ff96a9503403901010000 54000180
      060001000a000000060002000600000014000300fd0000000000000000000000000000010600040000500000
      07000600727200000c00070000000000ffffffff08000800000000000800090080000000`,
  },
  {
    line: '-A -t [fd00::1]:81 -s rr -p 10800 -M 64',
    service: {
      key: key('fd00::1', 81),
      scheduler: 'rr',
      flags: ServiceFlag.PERSISTENT,
      timeout: 10800,
      netmask: 64,
    },
    hex: `680000001c000500bd6ff96a9903403901010000 54000180
      060001000a000000060002000600000014000300fd0000000000000000000000000000010600040000510000
      07000600727200000c00070001000000ffffffff08000800302a00000800090040000000`,
  },
  {
    line: '-A -t 10.96.0.2:80 -s mh -p 10800 -b mh-port',
    service: {
      key: key('10.96.0.2', 80),
      scheduler: 'mh',
      flags: ServiceFlag.PERSISTENT | ServiceFlag.SCHED2,
      timeout: 10800,
    },
    hex: `680000001c000500be6ff96a9d03803901010000 54000180
      06000100020000000600020006000000140003000a6000020000000000000000000000000600040000500000
      070006006d6800000c00070011000000ffffffff08000800302a000008000900ffffffff`,
  },
  {
    line: '-A -t 10.96.0.3:80 -s sh -b sh-fallback,sh-port',
    service: { key: key('10.96.0.3', 80), scheduler: 'sh', flags: ServiceFlag.SCHED1 | ServiceFlag.SCHED2 },
    hex: `680000001c000500be6ff96aa103803901010000 54000180
      06000100020000000600020006000000140003000a6000030000000000000000000000000600040000500000
      07000600736800000c00070018000000ffffffff080008000000000008000900ffffffff`,
  },
  {
    line: '-A -t 10.96.0.4:80 -s wrr -p 300 -M 255.255.255.0',
    service: {
      key: key('10.96.0.4', 80),
      scheduler: 'wrr',
      flags: ServiceFlag.PERSISTENT,
      timeout: 300,
      netmask: 0xffffff00,
    },
    hex: `680000001c000500be6ff96aa503803901010000 54000180
      06000100020000000600020006000000140003000a6000040000000000000000000000000600040000500000
      08000600777272000c00070001000000ffffffff080008002c01000008000900ffffff00`,
  },
  {
    line: '-A -u 10.96.0.5:80 -s rr -o',
    service: { key: key('10.96.0.5', 80, 'UDP'), scheduler: 'rr', flags: ServiceFlag.ONEPACKET },
    hex: `680000001c000500bf6ff96aa903c03801010000 54000180
      06000100020000000600020011000000140003000a6000050000000000000000000000000600040000500000
      07000600727200000c00070004000000ffffffff080008000000000008000900ffffffff`,
  },
  {
    line: '-A -f 1 -s rr',
    service: { key: { kind: 'fwmark', family: 'IPv4', fwmark: 1 }, scheduler: 'rr' },
    hex: `4c0000001c000500c06ff96aad03003901010000 38000180 06000100020000000800050001000000
      07000600727200000c00070000000000ffffffff080008000000000008000900ffffffff`,
  },
  {
    line: '-A -f 2 -6 -s rr',
    service: { key: { kind: 'fwmark', family: 'IPv6', fwmark: 2 }, scheduler: 'rr' },
    hex: `4c0000001c000500c16ff96ab103405801010000 38000180 060001000a0000000800050002000000
      07000600727200000c00070000000000ffffffff08000800000000000800090080000000`,
  },
  {
    line: '-A -t 10.96.0.7:80 -s wlc -b flag-1,flag-2,flag-3',
    service: { key: key('10.96.0.7', 80), scheduler: 'wlc', flags: 0x38 },
    hex: `680000001c0005006b70f96a6f03c09d01010000 54000180
      06000100020000000600020006000000140003000a6000070000000000000000000000000600040000500000
      08000600776c63000c00070038000000ffffffff080008000000000008000900ffffffff`,
  },
  {
    line: '-A -u 10.96.0.9:5060 -s rr -p 60 --pe sip',
    service: {
      key: key('10.96.0.9', 5060, 'UDP'),
      scheduler: 'rr',
      flags: ServiceFlag.PERSISTENT,
      timeout: 60,
      persistenceEngine: 'sip',
    },
    hex: `700000001c0005006b70f96a7503c09d01010000 5c000180
      06000100020000000600020011000000140003000a6000090000000000000000000000000600040013c40000
      070006007272000008000b00736970000c00070001000000ffffffff080008003c00000008000900ffffffff`,
  },
];

for (const { line, service, hex } of NEW) {
  test(`KERNEL-1 KERNEL-4 sends the bytes of \`ipvsadm ${line}\` and prints that line`, () => {
    const change: IpvsChange = { kind: 'new-service', service };
    assert.equal(sent(change), captured(hex));
    assert.equal(printChange(change), line);
  });
}

test('KERNEL-1 editing a service sends the bytes of ipvsadm', () => {
  const flags = ServiceFlag.PERSISTENT;
  const change: IpvsChange = {
    kind: 'set-service',
    service: { key: key('10.96.0.1', 80), scheduler: 'wrr', flags, timeout: 600 },
  };
  const hex = `680000001c000500c36ff96abf03c05f02010000 54000180 ${TCP_96_1}
    08000600777272000c00070001000000ffffffff080008005802000008000900ffffffff`;
  assert.equal(sent(change), captured(hex));
  assert.equal(printChange(change), '-E -t 10.96.0.1:80 -s wrr -p 600');
});

test('KERNEL-1 deleting a service sends the bytes of ipvsadm, with the key only', () => {
  const change: IpvsChange = { kind: 'del-service', service: key('10.96.0.1', 80) };
  const hex = `680000001c000500c96ff96af703405e03010000 54000180 ${TCP_96_1}
    05000600000000000c00070000000000ffffffff080008000000000008000900ffffffff`;
  assert.equal(sent(change), capturedWithout(hex, { 1: [6, 7, 8, 9] }));
  assert.equal(printChange(change), '-D -t 10.96.0.1:80');
});

function roundTrip(service: Service) {
  return decodeService(message(FAMILY, 0, writer => encodeService(writer, service)).subarray(16));
}

test("KERNEL-1 every service survives encoding and decoding, except the kernel's own flag", () => {
  const address = fc
    .oneof(fc.uint8Array({ minLength: 4, maxLength: 4 }), fc.uint8Array({ minLength: 16, maxLength: 16 }))
    .map(bytes => ipFromBytes(bytes) as Ip);
  const keys: fc.Arbitrary<ServiceKey> = fc.oneof(
    fc.record(
      {
        kind: fc.constant('address' as const),
        protocol: fc.constantFrom<IpvsProtocol>('TCP', 'UDP', 'SCTP'),
        address,
        port: fc.nat(65535),
      },
      { noNullPrototype: true },
    ),
    fc.record(
      {
        kind: fc.constant('fwmark' as const),
        family: fc.constantFrom<Family>('IPv4', 'IPv6'),
        fwmark: fc.integer({ min: 1, max: 0xffffffff }),
      },
      { noNullPrototype: true },
    ),
  );
  const services = fc.record({
    key: keys,
    scheduler: fc.constantFrom('rr', 'lblcr'),
    flags: fc.nat(0x3f),
    timeout: fc.nat(),
    netmask: fc.integer({ min: 0, max: 0xffffffff }),
    persistenceEngine: fc.constantFrom('sip', undefined),
  });
  const property = fc.property(services, service => {
    assert.deepEqual(roundTrip(service), { ...service, flags: service.flags & ~2, stats: undefined });
  });
  fc.assert(property);
});

test('KERNEL-1 different keys have different texts', () => {
  const keys = NEW.map(({ service }) => printKey(service.key));
  assert.equal(new Set(keys).size, keys.length);
});
