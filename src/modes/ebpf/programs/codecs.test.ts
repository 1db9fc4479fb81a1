import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Ip } from '../../../net/index.ts';
import * as codecs from './index.ts';

const hex = (bytes: Buffer) => bytes.toString('hex');
const bytes = (text: string) => text.replaceAll(' ', '');
const ip = (text: string) => text as Ip;
const V4 = ip('10.96.0.10');
const V6 = ip('fd00:96::10');
const V6_BYTES = 'fd000096 00000000 00000000 00000010';

describe('EBPF-16 keys and values of the maps, byte by byte', () => {
  test('EBPF-16 a key of frontends', () => {
    const cases = [
      [{ family: 'IPv4', ip: V4, port: 80 }, '0a60000a 0050 06 00'],
      [{ family: 'IPv4', ip: undefined, port: 30080 }, '00000000 7580 06 00'],
      [{ family: 'IPv6', ip: V6, port: 443 }, `${V6_BYTES} 01bb 06 00`],
      [{ family: 'IPv6', ip: undefined, port: 30080 }, `${'0'.repeat(32)} 7580 06 00`],
    ] as const;
    for (const [key, text] of cases) {
      const encoded = codecs.frontendKey(key);
      assert.equal(hex(encoded), bytes(text));
      assert.equal(encoded.length, codecs.FRONTEND_KEY_BYTES[key.family]);
      assert.deepEqual(codecs.decodeFrontendKey(encoded), key);
    }
  });

  test('EBPF-16 a target', () => {
    const target = {
      pool: 17,
      flags: codecs.TargetFlag.affinity | codecs.TargetFlag.nodeOnly,
      affinitySeconds: 10_800,
      counter: 3,
      identity: 0x1122334455667788n,
    };
    const encoded = codecs.encodeTarget(target);
    assert.equal(hex(encoded), bytes('11000000 06000000 302a0000 03000000 8877665544332211'));
    assert.deepEqual(codecs.decodeTarget(encoded), target);
    assert.deepEqual(codecs.flagNames(target.flags), ['affinity', 'nodeOnly']);
  });

  test('EBPF-16 a pool', () => {
    const pool = { first: 5120, count: 3 };
    assert.equal(hex(codecs.encodePool(pool)), bytes('00140000 03000000'));
    assert.equal(codecs.poolWord(pool), 0x3_0000_1400n);
    assert.deepEqual(codecs.decodePool(codecs.encodePool(pool)), pool);
    assert.equal(hex(codecs.encodeLease(0x1122334455667788n)), bytes('88776655 44332211'));
    assert.equal(codecs.decodeLease(codecs.encodeLease(5n)), 5n);
  });

  test('EBPF-16 a slot', () => {
    for (const [endpoint, text] of [
      [{ ip: V4, port: 8080 }, '0a60000a 1f90 0000'],
      [{ ip: V6, port: 8080 }, `${V6_BYTES} 1f90 0000 00000000`],
    ] as const) {
      const encoded = codecs.encodeSlot(endpoint);
      assert.equal(hex(encoded), bytes(text));
      assert.deepEqual(codecs.decodeSlot(encoded), endpoint);
    }
  });

  test('EBPF-16 a member', () => {
    for (const [member, text] of [
      [{ pool: 258, ip: V4, port: 8080 }, '02010000 0a60000a 1f90 0000'],
      [{ pool: 258, ip: V6, port: 8080 }, `02010000 ${V6_BYTES} 1f90 0000`],
    ] as const) {
      const encoded = codecs.encodeMember(member);
      assert.equal(hex(encoded), bytes(text));
      assert.deepEqual(codecs.decodeMember(encoded), member);
    }
  });

  test('EBPF-16 what a socket remembers', () => {
    const peer = {
      namespace: 4097n,
      service: { ip: V4, port: 80 },
      endpoint: { ip: ip('10.244.1.2'), port: 8080 },
      countedBy: 258,
    };
    const encoded = codecs.encodePeer(peer);
    const text = `04000000 00000000 0110000000000000 0050 1f90 02010000 0a60000a${'0'.repeat(24)} 0af40102${'0'.repeat(24)}`;
    assert.equal(hex(encoded), bytes(text));
    assert.equal(encoded.length, codecs.PEER_BYTES);
    assert.deepEqual(codecs.decodePeer(encoded), peer);
    const six = { ...peer, service: { ip: V6, port: 80 }, endpoint: { ip: V6, port: 8080 }, countedBy: 0 };
    assert.deepEqual(codecs.decodePeer(codecs.encodePeer(six)), six);
    assert.equal(codecs.decodePeer(Buffer.alloc(codecs.PEER_BYTES)), undefined);
  });

  test('EBPF-16 what a client remembers', () => {
    const key = { client: 4097n, identity: 0x1122334455667788n };
    assert.equal(hex(codecs.encodeAffinityKey(key)), bytes('0110000000000000 8877665544332211'));
    assert.deepEqual(codecs.decodeAffinityKey(codecs.encodeAffinityKey(key)), key);
    for (const [endpoint, text] of [
      [{ ip: V4, port: 8080 }, '0500000000000000 0a60000a 1f90 0000'],
      [{ ip: V6, port: 8080 }, `0500000000000000 ${V6_BYTES} 1f90 0000 00000000`],
    ] as const) {
      const encoded = codecs.encodeAffinity({ seen: 5n, endpoint });
      assert.equal(hex(encoded), bytes(text));
      assert.deepEqual(codecs.decodeAffinity(encoded), { seen: 5n, endpoint });
    }
  });

  test('EBPF-16 an address of the node', () => {
    for (const address of [V4, V6]) {
      assert.deepEqual(codecs.decodeNodeAddressKey(codecs.nodeAddressKey(address)), address);
    }
    assert.equal(hex(codecs.nodeAddressKey(V4)), '0a60000a');
    for (const [kind, text] of [
      ['any', '01000000'],
      ['loopback', '02000000'],
    ] as const) {
      assert.equal(hex(codecs.encodeNodeAddress(kind)), text);
      assert.equal(codecs.decodeNodeAddress(codecs.encodeNodeAddress(kind)), kind);
    }
  });
});
