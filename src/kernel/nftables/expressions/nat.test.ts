import { testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'meta l4proto tcp dnat to 10.0.0.1:8080',
    hex: '38000180 080001006e617400 2c000280 0800010000000001 0800020000000002 0800030000000001 0800050000000002 0800070000000002',
    debug: '[ nat dnat ip addr_min reg 1 proto_min reg 2 flags 0x2 ]',
    node: { kind: 'nat', type: 'dnat', family: 'ip', addrMin: 1, protoMin: 2 },
  },
  {
    rule: 'dnat to 10.0.0.1',
    hex: '28000180 080001006e617400 1c000280 0800010000000001 0800020000000002 0800030000000001',
    debug: '[ nat dnat ip addr_min reg 1 ]',
    node: { kind: 'nat', type: 'dnat', family: 'ip', addrMin: 1 },
  },
  {
    rule: 'dnat to 10.0.0.1-10.0.0.9',
    hex: '30000180 080001006e617400 24000280 0800010000000001 0800020000000002 0800030000000001 0800040000000002',
    debug: '[ nat dnat ip addr_min reg 1 addr_max reg 2 ]',
    node: { kind: 'nat', type: 'dnat', family: 'ip', addrMin: 1, addrMax: 2 },
  },
  {
    rule: 'tcp dport 80 dnat to 10.0.0.1:8080-8090',
    hex: '40000180 080001006e617400 34000280 0800010000000001 0800020000000002 0800030000000001 0800050000000002 0800060000000003 0800070000000002',
    debug: '[ nat dnat ip addr_min reg 1 proto_min reg 2 proto_max reg 3 flags 0x2 ]',
    node: { kind: 'nat', type: 'dnat', family: 'ip', addrMin: 1, protoMin: 2, protoMax: 3 },
  },
  {
    rule: 'dnat to 10.0.0.1 random,persistent',
    hex: '30000180 080001006e617400 24000280 0800010000000001 0800020000000002 0800030000000001 080007000000000c',
    debug: '[ nat dnat ip addr_min reg 1 flags 0xc ]',
    node: { kind: 'nat', type: 'dnat', family: 'ip', addrMin: 1, flags: ['random', 'persistent'] },
  },
  {
    rule: 'tcp dport 80 dnat to :8080',
    hex: '30000180 080001006e617400 24000280 0800010000000001 0800020000000002 0800050000000001 0800070000000002',
    debug: '[ nat dnat ip proto_min reg 1 flags 0x2 ]',
    node: { kind: 'nat', type: 'dnat', family: 'ip', protoMin: 1 },
  },
  {
    rule: 'snat to 10.0.0.9 fully-random',
    hex: '30000180 080001006e617400 24000280 0800010000000000 0800020000000002 0800030000000001 0800070000000010',
    debug: '[ nat snat ip addr_min reg 1 flags 0x10 ]',
    node: { kind: 'nat', type: 'snat', family: 'ip', addrMin: 1, flags: ['fully-random'] },
  },
  {
    rule: 'ip6: meta l4proto tcp dnat to [fd00::5]:50051',
    hex: '38000180 080001006e617400 2c000280 0800010000000001 080002000000000a 0800030000000001 0800050000000002 0800070000000002',
    debug: '[ nat dnat ip6 addr_min reg 1 proto_min reg 2 flags 0x2 ]',
    node: { kind: 'nat', type: 'dnat', family: 'ip6', addrMin: 1, protoMin: 2 },
  },
  {
    rule: 'inet: tcp dport 80 dnat to :80',
    hex: '30000180 080001006e617400 24000280 0800010000000001 0800020000000001 0800050000000001 0800070000000002',
    debug: '[ nat dnat inet proto_min reg 1 flags 0x2 ]',
    node: { kind: 'nat', type: 'dnat', family: 'inet', protoMin: 1 },
  },
]);
