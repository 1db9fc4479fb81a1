import { testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'ct state new',
    hex: '20000180 0700010063740000 14000280 0800020000000000 0800010000000001',
    debug: '[ ct load state => reg 1 ]',
    node: { kind: 'ct', key: 'state', dreg: 1 },
  },
  {
    rule: 'ct status dnat',
    hex: '20000180 0700010063740000 14000280 0800020000000002 0800010000000001',
    debug: '[ ct load status => reg 1 ]',
    node: { kind: 'ct', key: 'status', dreg: 1 },
  },
  {
    rule: 'ct direction original',
    hex: '20000180 0700010063740000 14000280 0800020000000001 0800010000000001',
    debug: '[ ct load direction => reg 1 ]',
    node: { kind: 'ct', key: 'direction', dreg: 1 },
  },
  {
    rule: 'ct original ip daddr 10.96.0.1',
    hex: '28000180 0700010063740000 1c000280 0800020000000014 0800010000000001 0500030000000000',
    debug: '[ ct load dst_ip => reg 1 , dir original ]',
    node: { kind: 'ct', key: 'dst_ip', dreg: 1, dir: 'original' },
  },
  {
    rule: 'ip6: ct original ip6 daddr fd00::1',
    hex: '28000180 0700010063740000 1c000280 0800020000000016 0800010000000001 0500030000000000',
    debug: '[ ct load dst_ip6 => reg 1 , dir original ]',
    node: { kind: 'ct', key: 'dst_ip6', dreg: 1, dir: 'original' },
  },
  {
    rule: 'ct reply ip saddr 10.0.0.1',
    hex: '28000180 0700010063740000 1c000280 0800020000000013 0800010000000001 0500030001000000',
    debug: '[ ct load src_ip => reg 1 , dir reply ]',
    node: { kind: 'ct', key: 'src_ip', dreg: 1, dir: 'reply' },
  },
  {
    rule: 'ct mark set 5',
    hex: '20000180 0700010063740000 14000280 0800020000000003 0800040000000001',
    debug: '[ ct set mark with reg 1 ]',
    node: { kind: 'ct-set', key: 'mark', sreg: 1 },
  },
  {
    rule: 'ct event set new,destroy',
    hex: '20000180 0700010063740000 14000280 0800020000000012 0800040000000001',
    debug: '[ ct set event with reg 1 ]',
    node: { kind: 'ct-set', key: 'event', sreg: 1 },
  },
]);
