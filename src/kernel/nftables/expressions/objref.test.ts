import { testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'counter name "cnt"',
    hex: '24000180 0b0001006f626a7265660000 14000280 0800010000000001 07000200636e7400',
    debug: '[ objref type 1 name cnt ]',
    node: { kind: 'objref', type: 'counter', name: 'cnt' },
  },
  {
    rule: 'quota name "qta" drop',
    hex: '24000180 0b0001006f626a7265660000 14000280 0800010000000002 0700020071746100',
    debug: '[ objref type 2 name qta ]',
    node: { kind: 'objref', type: 'quota', name: 'qta' },
  },
  {
    rule: 'counter name tcp dport map { 80 : "cnt" }',
    hex: '34000180 0b0001006f626a7265660000 24000280 0800030000000001 0e0004005f5f6f626a6d617025640000 0800050000000009',
    debug: '[ objref sreg 1 set __objmap%d ]',
    node: { kind: 'objref-map', sreg: 1, set: '__objmap%d', setId: 9 },
  },
]);
