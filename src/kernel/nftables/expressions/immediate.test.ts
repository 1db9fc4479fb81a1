import { bytes, testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'meta l4proto tcp dnat to 10.0.0.1:8080',
    hex: '2c000180 0e000100696d6d656469617465000000 18000280 0800010000000001 0c000280 080001000a000001',
    debug: '[ immediate reg 1 0x0100000a ]',
    node: { kind: 'immediate', dreg: 1, data: bytes('0a000001') },
  },
  {
    rule: 'meta l4proto tcp dnat to 10.0.0.1:8080',
    hex: '2c000180 0e000100696d6d656469617465000000 18000280 0800010000000002 0c000280 060001001f900000',
    debug: '[ immediate reg 2 0x0000901f ]',
    node: { kind: 'immediate', dreg: 2, data: bytes('1f90') },
  },
  {
    rule: 'ip6: dnat to fd00::5',
    hex: '38000180 0e000100696d6d656469617465000000 24000280 0800010000000001 18000280 14000100fd000000000000000000000000000005',
    debug: '[ immediate reg 1 0x000000fd 0x00000000 0x00000000 0x05000000 ]',
    node: { kind: 'immediate', dreg: 1, data: bytes('fd000000 00000000 00000000 00000005') },
  },
  {
    rule: 'ip saddr 10.244.0.0/16 drop',
    hex: '30000180 0e000100696d6d656469617465000000 1c000280 0800010000000000 10000280 0c000280 0800010000000000',
    debug: '[ immediate reg 0 drop ]',
    node: { kind: 'verdict', verdict: { kind: 'drop' } },
  },
  {
    rule: 'ip saddr 10.96.0.0/12 accept',
    hex: '30000180 0e000100696d6d656469617465000000 1c000280 0800010000000000 10000280 0c000280 0800010000000001',
    debug: '[ immediate reg 0 accept ]',
    node: { kind: 'verdict', verdict: { kind: 'accept' } },
  },
  {
    rule: 'ip saddr != 10.244.0.0/14 return',
    hex: '30000180 0e000100696d6d656469617465000000 1c000280 0800010000000000 10000280 0c000280 08000100fffffffb',
    debug: '[ immediate reg 0 return ]',
    node: { kind: 'verdict', verdict: { kind: 'return' } },
  },
  {
    rule: 'ip daddr 1.2.3.4 continue',
    hex: '30000180 0e000100696d6d656469617465000000 1c000280 0800010000000000 10000280 0c000280 08000100ffffffff',
    debug: '[ immediate reg 0 continue ]',
    node: { kind: 'verdict', verdict: { kind: 'continue' } },
  },
  {
    rule: 'tcp dport 80 jump r',
    hex: '38000180 0e000100696d6d656469617465000000 24000280 0800010000000000 18000280 14000280 08000100fffffffd 0600020072000000',
    debug: '[ immediate reg 0 jump -> r ]',
    node: { kind: 'verdict', verdict: { kind: 'jump', chain: 'r' } },
  },
  {
    rule: 'tcp dport != 80-90 goto r',
    hex: '38000180 0e000100696d6d656469617465000000 24000280 0800010000000000 18000280 14000280 08000100fffffffc 0600020072000000',
    debug: '[ immediate reg 0 goto -> r ]',
    node: { kind: 'verdict', verdict: { kind: 'goto', chain: 'r' } },
  },
]);
