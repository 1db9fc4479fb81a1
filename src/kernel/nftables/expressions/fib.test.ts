import { testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'fib daddr type local',
    hex: '28000180 0800010066696200 1c000280 0800030000000002 0800020000000003 0800010000000001',
    debug: '[ fib daddr type => reg 1 ]',
    node: { kind: 'fib', selectors: ['daddr'], result: 'type', dreg: 1 },
  },
  {
    rule: 'fib saddr type != local',
    hex: '28000180 0800010066696200 1c000280 0800030000000001 0800020000000003 0800010000000001',
    debug: '[ fib saddr type => reg 1 ]',
    node: { kind: 'fib', selectors: ['saddr'], result: 'type', dreg: 1 },
  },
  {
    rule: 'fib saddr . iif oif missing drop',
    hex: '28000180 0800010066696200 1c000280 0800030000000029 0800020000000001 0800010000000001',
    debug: '[ fib saddr . iif oif present => reg 1 ]',
    node: { kind: 'fib', selectors: ['saddr', 'iif'], result: 'oif', present: true, dreg: 1 },
  },
  {
    rule: 'fib daddr oifname "lo"',
    hex: '28000180 0800010066696200 1c000280 0800030000000002 0800020000000002 0800010000000001',
    debug: '[ fib daddr oifname => reg 1 ]',
    node: { kind: 'fib', selectors: ['daddr'], result: 'oifname', dreg: 1 },
  },
]);
