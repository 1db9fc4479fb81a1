import { testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'quota over 10 mbytes drop',
    hex: '34000180 0a00010071756f7461000000 24000280 0c0001000000000000a00000 0c0004000000000000000000 0800020000000001',
    debug: '[ quota bytes 10485760 consumed 0 flags 1 ]',
    node: { kind: 'quota', bytes: 10485760n, consumed: 0n, over: true },
  },
  {
    rule: 'quota 500 bytes used 20 bytes',
    hex: '34000180 0a00010071756f7461000000 24000280 0c00010000000000000001f4 0c0004000000000000000014 0800020000000000',
    debug: '[ quota bytes 500 consumed 20 flags 0 ]',
    node: { kind: 'quota', bytes: 500n, consumed: 20n },
  },
]);
