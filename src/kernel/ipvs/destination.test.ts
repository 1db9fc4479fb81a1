import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { capturedWithout } from '../../../test/support/ipvs.ts';
import { message } from '../../../test/support/netlink.ts';
import { type Ip, ipFromBytes, parseIp } from '../../net/index.ts';
import { CHANGE_COMMANDS, encodeChange, type IpvsChange, printChange } from './change.ts';
import { type Destination, decodeDestination, encodeDestination, type Forward } from './destination.ts';
import type { ServiceKey } from './service-key.ts';

const FAMILY = 28;
const REQUEST_ACK = 5;
/**
 * ipvsadm sends these attributes too, but the kernel does not need them: it finds the service by its key, and tunnel
 * settings of zero are the default.
 */
const NOT_SENT = { 1: [6, 7, 8, 9], 2: [13, 14, 15] };

const ip = (text: string): Ip => parseIp(text) ?? assert.fail(text);
const web: ServiceKey = { kind: 'address', protocol: 'TCP', address: ip('10.96.0.1'), port: 80 };
const web6: ServiceKey = { kind: 'address', protocol: 'TCP', address: ip('fd00::1'), port: 80 };
const marked: ServiceKey = { kind: 'fwmark', family: 'IPv4', fwmark: 1 };

function sent(change: IpvsChange): string {
  const bytes = message(FAMILY, REQUEST_ACK, writer => {
    encodeChange(writer.struct(Buffer.from([CHANGE_COMMANDS[change.kind], 1, 0, 0])), change);
  });
  return bytes.fill(0, 8, 16).toString('hex');
}

const SERVICE = `54000180 06000100020000000600020006000000140003000a6000010000000000000000000000000600040000500000
  05000600000000000c00070000000000ffffffff080008000000000008000900ffffffff`;
const SERVICE6 = `54000180 060001000a000000060002000600000014000300fd0000000000000000000000000000010600040000500000
  05000600000000000c00070000000000ffffffff08000800000000000800090080000000`;
const MARKED = `38000180 06000100020000000800050001000000
  05000600000000000c00070000000000ffffffff080008000000000008000900ffffffff`;
const TUNNEL = '05000d000000000006000e000000000006000f0000000000';
const NO_THRESHOLDS = '08000500000000000800060000000000';

const CASES: readonly { line: string; change: IpvsChange; hex: string }[] = [
  {
    line: '-a -t 10.96.0.1:80 -r 10.244.1.2:8080 -m -w 1',
    change: { kind: 'new-dest', service: web, destination: { address: ip('10.244.1.2'), port: 8080 } },
    hex: `c80000001c0005006c70f96a7c03009e05010000 ${SERVICE} 60000280 06000b0002000000
      140001000af40102000000000000000000000000 060002001f900000 0800030000000000 0800040001000000
      ${TUNNEL} ${NO_THRESHOLDS}`,
  },
  {
    line: '-a -t 10.96.0.1:80 -r 10.244.1.3:8080 -m -w 0 -x 100 -y 50',
    change: {
      kind: 'new-dest',
      service: web,
      destination: { address: ip('10.244.1.3'), port: 8080, weight: 0, upperThreshold: 100, lowerThreshold: 50 },
    },
    hex: `c80000001c0005006c70f96a8003009e05010000 ${SERVICE} 60000280 06000b0002000000
      140001000af40103000000000000000000000000 060002001f900000 0800030000000000 0800040000000000
      ${TUNNEL} 08000500640000000800060032000000`,
  },
  {
    line: '-a -t 10.96.0.1:80 -r 10.244.1.4:80 -g -w 2',
    change: {
      kind: 'new-dest',
      service: web,
      destination: { address: ip('10.244.1.4'), port: 80, forward: 'route', weight: 2 },
    },
    hex: `c80000001c0005006c70f96a8403009e05010000 ${SERVICE} 60000280 06000b0002000000
      140001000af40104000000000000000000000000 0600020000500000 0800030003000000 0800040002000000
      ${TUNNEL} ${NO_THRESHOLDS}`,
  },
  {
    line: '-a -t 10.96.0.1:80 -r 10.244.1.5:80 -i -w 2',
    change: {
      kind: 'new-dest',
      service: web,
      destination: { address: ip('10.244.1.5'), port: 80, forward: 'tunnel', weight: 2 },
    },
    hex: `c80000001c0005006c70f96a8803009e05010000 ${SERVICE} 60000280 06000b0002000000
      140001000af40105000000000000000000000000 0600020000500000 0800030002000000 0800040002000000
      ${TUNNEL} ${NO_THRESHOLDS}`,
  },
  {
    line: '-a -t [fd00::1]:80 -r [fd01::2]:8080 -m -w 1',
    change: { kind: 'new-dest', service: web6, destination: { address: ip('fd01::2'), port: 8080 } },
    hex: `c80000001c0005006d70f96a9003409d05010000 ${SERVICE6} 60000280 06000b000a000000
      14000100fd010000000000000000000000000002 060002001f900000 0800030000000000 0800040001000000
      ${TUNNEL} ${NO_THRESHOLDS}`,
  },
  {
    line: '-a -f 1 -r 10.244.1.2:8080 -m -w 1',
    change: { kind: 'new-dest', service: marked, destination: { address: ip('10.244.1.2'), port: 8080 } },
    hex: `ac0000001c0005006d70f96a9403409d05010000 ${MARKED} 60000280 06000b0002000000
      140001000af40102000000000000000000000000 060002001f900000 0800030000000000 0800040001000000
      ${TUNNEL} ${NO_THRESHOLDS}`,
  },
  {
    line: '-e -t 10.96.0.1:80 -r 10.244.1.2:8080 -m -w 0',
    change: { kind: 'set-dest', service: web, destination: { address: ip('10.244.1.2'), port: 8080, weight: 0 } },
    hex: `c80000001c0005006d70f96a9803409d06010000 ${SERVICE} 60000280 06000b0002000000
      140001000af40102000000000000000000000000 060002001f900000 0800030000000000 0800040000000000
      ${TUNNEL} ${NO_THRESHOLDS}`,
  },
];

for (const { line, change, hex } of CASES) {
  test(`KERNEL-1 sends the bytes of \`ipvsadm ${line}\``, () => {
    assert.equal(sent(change), capturedWithout(hex, NOT_SENT));
    assert.equal(printChange(change), line);
  });
}

test('KERNEL-1 deleting a destination sends the bytes of ipvsadm, with the key only', () => {
  const change: IpvsChange = { kind: 'del-dest', service: web6, destination: { address: ip('fd01::2'), port: 8080 } };
  const hex = `c80000001c000500c86ff96af303005f07010000 ${SERVICE6} 60000280 06000b000a000000
    14000100fd010000000000000000000000000002 060002001f900000 0800030003000000 0800040001000000
    ${TUNNEL} ${NO_THRESHOLDS}`;
  assert.equal(sent(change), capturedWithout(hex, { ...NOT_SENT, 2: [3, 4, 5, 6, 13, 14, 15] }));
  assert.equal(printChange(change), '-d -t [fd00::1]:80 -r [fd01::2]:8080');
});

test('KERNEL-1 every destination survives encoding and decoding', () => {
  const destinations: fc.Arbitrary<Required<Destination>> = fc.record({
    address: fc
      .oneof(fc.uint8Array({ minLength: 4, maxLength: 4 }), fc.uint8Array({ minLength: 16, maxLength: 16 }))
      .map(bytes => ipFromBytes(bytes) as Ip),
    port: fc.nat(65535),
    forward: fc.constantFrom<Forward>('masq', 'local', 'tunnel', 'route', 'bypass'),
    weight: fc.nat(65535),
    upperThreshold: fc.nat(),
    lowerThreshold: fc.nat(),
  });
  const property = fc.property(destinations, destination => {
    const bytes = message(FAMILY, 0, writer => encodeDestination(writer, destination));
    assert.deepEqual(decodeDestination(bytes.subarray(16)), {
      ...destination,
      activeConnections: 0,
      inactiveConnections: 0,
      persistentConnections: 0,
      stats: undefined,
    });
  });
  fc.assert(property);
});
