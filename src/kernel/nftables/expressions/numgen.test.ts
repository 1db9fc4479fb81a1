import { testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'numgen random mod 2 vmap { 0 : goto r, 1 : accept }',
    hex: '34000180 0b0001006e756d67656e0000 24000280 0800010000000001 0800020000000002 0800030000000001 0800040000000000',
    debug: '[ numgen reg 1 = random mod 2 ]',
    node: { kind: 'numgen', type: 'random', modulus: 2, offset: 0, dreg: 1 },
  },
  {
    rule: 'numgen inc mod 4 offset 10 vmap { 10 : goto r, 11 : accept }',
    hex: '34000180 0b0001006e756d67656e0000 24000280 0800010000000001 0800020000000004 0800030000000000 080004000000000a',
    debug: '[ numgen reg 1 = inc mod 4 offset 10 ]',
    node: { kind: 'numgen', type: 'inc', modulus: 4, offset: 10, dreg: 1 },
  },
]);
