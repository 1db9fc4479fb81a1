import { testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'meta mark set symhash mod 8',
    hex: '34000180 090001006861736800000000 24000280 0800020000000001 0800040000000008 0800060000000000 0800070000000001',
    debug: '[ hash reg 1 = symhash() % mod 8 ]',
    node: { kind: 'symhash', modulus: 8, offset: 0, dreg: 1 },
  },
  {
    rule: 'meta mark set jhash ip saddr mod 4',
    hex: '44000180 090001006861736800000000 34000280 0800010000000002 0800020000000001 0800030000000004 0800040000000004 0800060000000000 0800070000000000',
    debug: '[ hash reg 1 = jhash(reg 2, 4, 0x0) % mod 4 ]',
    node: { kind: 'jhash', sreg: 2, len: 4, modulus: 4, offset: 0, dreg: 1 },
  },
  {
    rule: 'meta mark set jhash ip saddr . ip daddr mod 4 seed 0xdeadbeef offset 3',
    hex: '4c000180 090001006861736800000000 3c000280 0800010000000002 0800020000000001 0800030000000008 0800040000000004 08000500deadbeef 0800060000000003 0800070000000000',
    debug: '[ hash reg 1 = jhash(reg 2, 8, 0xdeadbeef) % mod 4 offset 3 ]',
    node: { kind: 'jhash', sreg: 2, len: 8, modulus: 4, offset: 3, seed: 3735928559, dreg: 1 },
  },
]);
