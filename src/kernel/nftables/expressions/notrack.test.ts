import { testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'notrack',
    hex: '10000180 0c0001006e6f747261636b00',
    debug: '[ notrack ]',
    node: { kind: 'notrack' },
  },
]);
