import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { capturedWithout } from '../../../test/support/ipvs.ts';
import { type Answer, captured, message, RecordingTransport } from '../../../test/support/netlink.ts';
import { parseIp } from '../../net/index.ts';
import { GenericSocket } from '../genetlink/index.ts';
import { type MessageWriter, NetlinkSocket } from '../netlink/index.ts';
import { decodeConfig, printConfig } from './config.ts';
import { decodeDestination, encodeDestination } from './destination.ts';
import { decodeInfo, printInfo } from './info.ts';
import { decodeService, encodeService } from './service.ts';
import type { ServiceKey } from './service-key.ts';
import { IpvsSocket } from './socket.ts';

const CONTROL = 16;
const FAMILY = 28;
const ESRCH = 3;
const EPERM = 1;
const address = parseIp('10.96.0.1') ?? assert.fail();
const address6 = parseIp('fd00::1') ?? assert.fail();
const web: ServiceKey = { kind: 'address', protocol: 'TCP', address, port: 80 };
const web6: ServiceKey = { kind: 'address', protocol: 'TCP', address: address6, port: 80 };

/** Returns the messages that `work` sends, without the request for the family. */
function record(work: (socket: IpvsSocket) => void, answers: readonly Answer[] = []): string[] {
  const transport = new RecordingTransport(({ type, flags }) => {
    if (type === CONTROL) {
      return [{ type, write: w => w.struct(Buffer.alloc(4)).u16(1, FAMILY).string(2, 'IPVS') }, 0];
    }
    return flags & 0x300 ? answers : [...answers, 0];
  });
  work(new IpvsSocket(new GenericSocket(new NetlinkSocket(transport))));
  return transport.sent.slice(1).map(bytes => bytes.fill(0, 8, 16).toString('hex'));
}

function answer(write: (writer: MessageWriter) => void): Answer {
  return { type: FAMILY, write: writer => write(writer.struct(Buffer.alloc(4))) };
}

/**
 * Removes the flag for an acknowledgement. ipvsadm sets it on dumps too, although the kernel never acknowledges a dump.
 */
const asDump = (hex: string) => captured(hex).replace('1c000503', '1c000103');

test('KERNEL-1 setting and getting timeouts sends the bytes of ipvsadm', () => {
  const sent = record(socket => socket.setConfig({ tcp: 900, tcpFin: 120, udp: 300 }));
  const hex = '2c0000001c000500c96ff96aff03405e0c010000 0800040084030000 0800050078000000 080006002c010000';
  assert.deepEqual(sent, [captured(hex)]);
  assert.equal(printConfig({ tcp: 900, tcpFin: 120, udp: 300 }), '--set 900 120 300');
  const reply = answer(writer => writer.u32(4, 900).u32(5, 120).u32(6, 300));
  const asked = record(socket => assert.deepEqual(socket.config(), { tcp: 900, tcpFin: 120, udp: 300 }), [reply]);
  assert.deepEqual(asked, [captured('140000001c000500ca6ff96a0304805e0d010000')]);
});

test('KERNEL-1 info, zero and flush send the bytes of ipvsadm', () => {
  const reply = answer(writer => writer.u32(1, 0x010201).u32(2, 4096));
  const info = record(
    socket => assert.equal(printInfo(socket.info()), 'IP Virtual Server version 1.2.1 (size=4096)'),
    [reply],
  );
  assert.deepEqual(info, [captured('140000001c000500bb6ff96a890300170f010000')]);
  assert.deepEqual(
    record(socket => socket.zero()),
    [captured('140000001c000500ca6ff96a0704805e10010000')],
  );
  assert.deepEqual(
    record(socket => socket.flush()),
    [captured('140000001c000500cb6ff96a0f04c05d11010000')],
  );
  const zero = `680000001c000500ca6ff96a0b04805e10010000 54000180
    060001000a000000060002000600000014000300fd0000000000000000000000000000010600040000500000
    05000600000000000c00070000000000ffffffff08000800000000000800090080000000`;
  assert.deepEqual(
    record(socket => socket.zero(web6)),
    [capturedWithout(zero, { 1: [6, 7, 8, 9] })],
  );
});

test('KERNEL-1 listing services and destinations and getting one service sends the bytes of ipvsadm', () => {
  assert.deepEqual(
    record(socket => socket.services()),
    [asDump('140000001c000503c76ff96ae703c05e04010000')],
  );
  const destinations = `440000001c000503c76ff96ae703807108010000 30000180
    06000100020000000600020006000000140003000a6000010000000000000000000000000600040000500000`;
  assert.deepEqual(
    record(socket => socket.destinations(web)),
    [asDump(destinations)],
  );
  const one = `680000001c000500c86ff96aeb03005f04010000 54000180
    06000100020000000600020006000000140003000a6000010000000000000000000000000600040000500000
    05000600000000000c00070000000000ffffffff08000800000000000800090000000000`;
  assert.deepEqual(
    record(socket => socket.service(web)),
    [capturedWithout(one, { 1: [6, 7, 8, 9] })],
  );
});

test('KERNEL-1 a destination without a family has the family of its service', () => {
  const entry = (bytes: Buffer) =>
    answer(writer => {
      const nest = writer.nest(2);
      writer.data(1, bytes).u16BE(2, 8080).u32(3, 0).u32(4, 1).close(nest);
    });
  const bytes = Buffer.from('0af40102000000000000000000000000', 'hex');
  const bytes6 = Buffer.from('fd010000000000000000000000000002', 'hex');
  const addresses = (socket: IpvsSocket, service: ServiceKey) =>
    socket.destinations(service).map(({ address }) => address);
  record(socket => assert.deepEqual(addresses(socket, web), ['10.244.1.2']), [entry(bytes)]);
  record(socket => assert.deepEqual(addresses(socket, web6), ['fd01::2']), [entry(bytes6)]);
});

test('KERNEL-1 service returns undefined for a missing service and throws for other refusals', () => {
  record(socket => assert.equal(socket.service(web), undefined), [ESRCH]);
  const operation = 'ipvsadm -L -n -t 10.96.0.1:80';
  record(socket => assert.throws(() => socket.service(web), { errno: 'EPERM', operation }), [EPERM]);
});

test('KERNEL-1 an empty answer is an error', () => {
  record(socket => assert.throws(() => socket.info(), { code: 'KERNEL_PROTOCOL', operation: 'ipvsadm --version' }));
});

const WHOLE = [
  message(FAMILY, 0, w => encodeService(w, { key: web6, scheduler: 'rr', persistenceEngine: 'sip' })),
  message(FAMILY, 0, w => encodeDestination(w, { address, port: 80 })),
].map(bytes => Buffer.from(bytes.subarray(16)));

function decodeAll(bytes: Buffer): void {
  decodeService(bytes);
  decodeDestination(bytes);
  decodeConfig(bytes);
  decodeInfo(bytes);
}

test('KERNEL-1 random bytes never make a decoder throw', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), bytes => decodeAll(Buffer.from(bytes))));
});

test('KERNEL-1 messages that are cut short or changed never make a decoder throw', () => {
  const change = fc.record({ at: fc.nat(120), value: fc.integer({ min: 0, max: 255 }) });
  const property = fc.property(
    fc.constantFrom(...WHOLE),
    fc.array(change, { maxLength: 6 }),
    fc.nat(120),
    (whole, changes, length) => {
      const bytes = Buffer.from(whole.subarray(0, length));
      for (const { at, value } of changes) if (at < bytes.length) bytes[at] = value;
      decodeAll(bytes);
    },
  );
  fc.assert(property, { numRuns: 500 });
});
