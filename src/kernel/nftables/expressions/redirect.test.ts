import { testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'redirect',
    hex: '14000180 0a0001007265646972000000 04000280',
    debug: '[ redir ]',
    node: { kind: 'redirect' },
  },
  {
    rule: 'tcp dport 80 redirect to :8080',
    hex: '24000180 0a0001007265646972000000 14000280 0800010000000001 0800030000000002',
    debug: '[ redir proto_min reg 1 flags 0x2 ]',
    node: { kind: 'redirect', protoMin: 1 },
  },
  {
    rule: 'tcp dport 80 redirect to :8080-8090 fully-random',
    hex: '2c000180 0a0001007265646972000000 1c000280 0800010000000001 0800020000000002 0800030000000012',
    debug: '[ redir proto_min reg 1 proto_max reg 2 flags 0x12 ]',
    node: { kind: 'redirect', protoMin: 1, protoMax: 2, flags: ['fully-random'] },
  },
]);
