import { testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'ip saddr @s',
    hex: '2c000180 0b0001006c6f6f6b75700000 1c000280 0800020000000001 0600010073000000 0800040000000001',
    debug: '[ lookup reg 1 set s ]',
    node: { kind: 'lookup', set: 's', sreg: 1, setId: 1 },
  },
  {
    rule: 'ip saddr != @s drop',
    hex: '34000180 0b0001006c6f6f6b75700000 24000280 0800020000000001 0600010073000000 0800040000000001 0800050000000001',
    debug: '[ lookup reg 1 set s 0x1 ]',
    node: { kind: 'lookup', set: 's', sreg: 1, setId: 1, inverted: true },
  },
  {
    rule: 'meta mark set ip saddr map @mk',
    hex: '34000180 0b0001006c6f6f6b75700000 24000280 0800020000000001 0800030000000001 070001006d6b0000 0800040000000008',
    debug: '[ lookup reg 1 set mk dreg 1 ]',
    node: { kind: 'lookup', set: 'mk', sreg: 1, setId: 8, dreg: 1 },
  },
  {
    rule: 'ct state new ip daddr . meta l4proto . th dport vmap @svc',
    hex: '34000180 0b0001006c6f6f6b75700000 24000280 0800020000000001 0800030000000000 0800010073766300 0800040000000006',
    debug: '[ lookup reg 1 set svc dreg 0 ]',
    node: { kind: 'lookup', set: 'svc', sreg: 1, setId: 6, dreg: 0 },
  },
  {
    rule: 'tcp dport { 80, 443 } accept',
    hex: '30000180 0b0001006c6f6f6b75700000 20000280 0800020000000001 0c0001005f5f736574256400 0800040000000009',
    debug: '[ lookup reg 1 set __set%d ]',
    node: { kind: 'lookup', set: '__set%d', sreg: 1, setId: 9 },
  },
]);
