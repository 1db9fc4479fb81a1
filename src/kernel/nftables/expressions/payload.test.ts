import { testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'ip saddr 10.244.0.0/16 drop',
    hex: '34000180 0c0001007061796c6f616400 24000280 0800010000000001 0800020000000001 080003000000000c 0800040000000002',
    debug: '[ payload load 2b @ network header + 12 => reg 1 ]',
    node: { kind: 'payload', base: 'network', offset: 12, len: 2, dreg: 1 },
  },
  {
    rule: 'tcp dport 80 jump r',
    hex: '34000180 0c0001007061796c6f616400 24000280 0800010000000001 0800020000000002 0800030000000002 0800040000000002',
    debug: '[ payload load 2b @ transport header + 2 => reg 1 ]',
    node: { kind: 'payload', base: 'transport', offset: 2, len: 2, dreg: 1 },
  },
  {
    rule: 'ip6: ip6 daddr != ::1 drop',
    hex: '34000180 0c0001007061796c6f616400 24000280 0800010000000001 0800020000000001 0800030000000018 0800040000000010',
    debug: '[ payload load 16b @ network header + 24 => reg 1 ]',
    node: { kind: 'payload', base: 'network', offset: 24, len: 16, dreg: 1 },
  },
  {
    rule: 'ether saddr 00:11:22:33:44:55',
    hex: '34000180 0c0001007061796c6f616400 24000280 0800010000000001 0800020000000000 0800030000000006 0800040000000006',
    debug: '[ payload load 6b @ link header + 6 => reg 1 ]',
    node: { kind: 'payload', base: 'link', offset: 6, len: 6, dreg: 1 },
  },
  {
    rule: 'ip daddr set 1.2.3.4',
    hex: '4c000180 0c0001007061796c6f616400 3c000280 0800050000000001 0800020000000001 0800030000000010 0800040000000004 0800060000000001 080007000000000a 0800080000000001',
    debug: '[ payload write reg 1 => 4b @ network header + 16 csum_type 1 csum_off 10 csum_flags 0x1 ]',
    node: {
      kind: 'payload-write',
      base: 'network',
      offset: 16,
      len: 4,
      sreg: 1,
      csumType: 1,
      csumOffset: 10,
      csumFlags: 1,
    },
  },
  {
    rule: 'tcp dport set 99',
    hex: '44000180 0c0001007061796c6f616400 34000280 0800050000000001 0800020000000002 0800030000000002 0800040000000002 0800060000000001 0800070000000010',
    debug: '[ payload write reg 1 => 2b @ transport header + 2 csum_type 1 csum_off 16 csum_flags 0x0 ]',
    node: { kind: 'payload-write', base: 'transport', offset: 2, len: 2, sreg: 1, csumType: 1, csumOffset: 16 },
  },
]);
