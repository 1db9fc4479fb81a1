import { testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'ct count over 5 drop',
    hex: '28000180 0e000100636f6e6e6c696d6974000000 14000280 0800010000000005 0800020000000001',
    debug: '[ connlimit count 5 flags 1 ]',
    node: { kind: 'connlimit', count: 5, over: true },
  },
  {
    rule: 'ct count 3 accept',
    hex: '28000180 0e000100636f6e6e6c696d6974000000 14000280 0800010000000003 0800020000000000',
    debug: '[ connlimit count 3 flags 0 ]',
    node: { kind: 'connlimit', count: 3 },
  },
]);
