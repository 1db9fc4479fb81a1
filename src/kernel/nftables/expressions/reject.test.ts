import { testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'reject',
    hex: '24000180 0b00010072656a6563740000 14000280 0800010000000000 0500020003000000',
    debug: '[ reject type 0 code 3 ]',
    node: { kind: 'reject', type: 'icmp', code: 3 },
  },
  {
    rule: 'reject with icmp host-unreachable',
    hex: '24000180 0b00010072656a6563740000 14000280 0800010000000000 0500020001000000',
    debug: '[ reject type 0 code 1 ]',
    node: { kind: 'reject', type: 'icmp', code: 1 },
  },
  {
    rule: 'ip6: reject',
    hex: '24000180 0b00010072656a6563740000 14000280 0800010000000000 0500020004000000',
    debug: '[ reject type 0 code 4 ]',
    node: { kind: 'reject', type: 'icmp', code: 4 },
  },
  {
    rule: 'inet: reject',
    hex: '24000180 0b00010072656a6563740000 14000280 0800010000000002 0500020001000000',
    debug: '[ reject type 2 code 1 ]',
    node: { kind: 'reject', type: 'icmpx', code: 1 },
  },
  {
    rule: 'tcp dport 80 reject with tcp reset',
    hex: '24000180 0b00010072656a6563740000 14000280 0800010000000001 0500020000000000',
    debug: '[ reject type 1 code 0 ]',
    node: { kind: 'reject', type: 'tcp reset' },
  },
]);
