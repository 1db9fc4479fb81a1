import { testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'counter packets 5 bytes 99 accept',
    hex: '2c000180 0c000100636f756e74657200 1c000280 0c0001000000000000000063 0c0002000000000000000005',
    debug: '[ counter pkts 5 bytes 99 ]',
    node: { kind: 'counter', packets: 5n, bytes: 99n },
  },
  {
    rule: 'counter',
    hex: '14000180 0c000100636f756e74657200 04000280',
    debug: '[ counter pkts 0 bytes 0 ]',
    node: { kind: 'counter' },
  },
]);
