import { bytes, testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'meta l4proto tcp',
    hex: '2c000180 08000100636d7000 20000280 0800010000000001 0800020000000000 0c000380 0500010006000000',
    debug: '[ cmp eq reg 1 0x00000006 ]',
    node: { kind: 'cmp', op: 'eq', sreg: 1, data: bytes('06') },
  },
  {
    rule: 'iifname != "veth*"',
    hex: '2c000180 08000100636d7000 20000280 0800010000000001 0800020000000001 0c000380 0800010076657468',
    debug: '[ cmp neq reg 1 0x68746576 ]',
    node: { kind: 'cmp', op: 'neq', sreg: 1, data: bytes('76657468') },
  },
  {
    rule: 'ip length > 100',
    hex: '2c000180 08000100636d7000 20000280 0800010000000001 0800020000000004 0c000380 0600010000640000',
    debug: '[ cmp gt reg 1 0x00006400 ]',
    node: { kind: 'cmp', op: 'gt', sreg: 1, data: bytes('0064') },
  },
  {
    rule: 'tcp dport 1024-65535',
    hex: '2c000180 08000100636d7000 20000280 0800010000000001 0800020000000005 0c000380 0600010004000000',
    debug: '[ cmp gte reg 1 0x00000004 ]',
    node: { kind: 'cmp', op: 'gte', sreg: 1, data: bytes('0400') },
  },
  {
    rule: 'tcp dport 1024-65535',
    hex: '2c000180 08000100636d7000 20000280 0800010000000001 0800020000000003 0c000380 06000100ffff0000',
    debug: '[ cmp lte reg 1 0x0000ffff ]',
    node: { kind: 'cmp', op: 'lte', sreg: 1, data: bytes('ffff') },
  },
  {
    rule: 'meta mark & 0xff < 0x10',
    hex: '2c000180 08000100636d7000 20000280 0800010000000001 0800020000000002 0c000380 0800010000000010',
    debug: '[ cmp lt reg 1 0x10000000 ]',
    node: { kind: 'cmp', op: 'lt', sreg: 1, data: bytes('00000010') },
  },
  {
    rule: 'ip6: ip6 saddr fd00:10:244::/56 drop',
    hex: '30000180 08000100636d7000 24000280 0800010000000001 0800020000000000 10000380 0b000100fd00001002440000',
    debug: '[ cmp eq reg 1 0x100000fd 0x00004402 ]',
    node: { kind: 'cmp', op: 'eq', sreg: 1, data: bytes('fd000010 024400') },
  },
]);
