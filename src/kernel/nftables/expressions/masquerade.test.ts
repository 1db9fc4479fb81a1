import { testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'masquerade',
    hex: '14000180 090001006d61737100000000 04000280',
    debug: '[ masq ]',
    node: { kind: 'masquerade' },
  },
  {
    rule: 'masquerade fully-random',
    hex: '1c000180 090001006d61737100000000 0c000280 0800010000000010',
    debug: '[ masq flags 0x10 ]',
    node: { kind: 'masquerade', flags: ['fully-random'] },
  },
  {
    rule: 'masquerade random,fully-random,persistent',
    hex: '1c000180 090001006d61737100000000 0c000280 080001000000001c',
    debug: '[ masq flags 0x1c ]',
    node: { kind: 'masquerade', flags: ['random', 'persistent', 'fully-random'] },
  },
  {
    rule: 'meta l4proto tcp masquerade to :1024-2048',
    hex: '2c000180 090001006d61737100000000 1c000280 0800010000000002 0800020000000001 0800030000000002',
    debug: '[ masq proto_min reg 1 proto_max reg 2 flags 0x2 ]',
    node: { kind: 'masquerade', protoMin: 1, protoMax: 2 },
  },
]);
