import { testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'socket transparent 1',
    hex: '2c000180 0b000100736f636b65740000 1c000280 0800010000000000 0800020000000001 0800030000000000',
    debug: '[ socket load transparent => reg 1 ]',
    node: { kind: 'socket', key: 'transparent', dreg: 1 },
  },
  {
    rule: 'socket mark 5',
    hex: '2c000180 0b000100736f636b65740000 1c000280 0800010000000001 0800020000000001 0800030000000000',
    debug: '[ socket load mark => reg 1 ]',
    node: { kind: 'socket', key: 'mark', dreg: 1 },
  },
  {
    rule: 'socket wildcard 0',
    hex: '2c000180 0b000100736f636b65740000 1c000280 0800010000000002 0800020000000001 0800030000000000',
    debug: '[ socket load wildcard => reg 1 ]',
    node: { kind: 'socket', key: 'wildcard', dreg: 1 },
  },
]);
