import { testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'meta length > 1000',
    hex: '40000180 0e000100627974656f72646572000000 2c000280 0800010000000001 0800020000000001 0800030000000001 0800040000000004 0800050000000004',
    debug: '[ byteorder reg 1 = hton(reg 1, 4, 4) ]',
    node: { kind: 'byteorder', op: 'hton', sreg: 1, dreg: 1, len: 4, size: 4 },
  },
  {
    rule: 'ct bytes > 1000',
    hex: '40000180 0e000100627974656f72646572000000 2c000280 0800010000000001 0800020000000001 0800030000000001 0800040000000008 0800050000000008',
    debug: '[ byteorder reg 1 = hton(reg 1, 8, 8) ]',
    node: { kind: 'byteorder', op: 'hton', sreg: 1, dreg: 1, len: 8, size: 8 },
  },
]);
