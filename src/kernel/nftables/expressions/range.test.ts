import { bytes, testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'tcp dport != 80-90 goto r',
    hex: '3c000180 0a00010072616e6765000000 2c000280 0800010000000001 0800020000000001 0c000380 0600010000500000 0c000480 06000100005a0000',
    debug: '[ range neq reg 1 0x00005000 0x00005a00 ]',
    node: { kind: 'range', op: 'neq', sreg: 1, from: bytes('0050'), to: bytes('005a') },
  },
]);
