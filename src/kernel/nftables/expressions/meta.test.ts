import { testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'meta l4proto tcp',
    hex: '24000180 090001006d65746100000000 14000280 0800020000000010 0800010000000001',
    debug: '[ meta load l4proto => reg 1 ]',
    node: { kind: 'meta', key: 'l4proto', dreg: 1 },
  },
  {
    rule: 'iifname "cni0"',
    hex: '24000180 090001006d65746100000000 14000280 0800020000000006 0800010000000001',
    debug: '[ meta load iifname => reg 1 ]',
    node: { kind: 'meta', key: 'iifname', dreg: 1 },
  },
  {
    rule: 'meta mark 0x10',
    hex: '24000180 090001006d65746100000000 14000280 0800020000000003 0800010000000001',
    debug: '[ meta load mark => reg 1 ]',
    node: { kind: 'meta', key: 'mark', dreg: 1 },
  },
  {
    rule: 'inet: meta nfproto ipv4',
    hex: '24000180 090001006d65746100000000 14000280 080002000000000f 0800010000000001',
    debug: '[ meta load nfproto => reg 1 ]',
    node: { kind: 'meta', key: 'nfproto', dreg: 1 },
  },
  {
    rule: 'meta mark set 7',
    hex: '24000180 090001006d65746100000000 14000280 0800020000000003 0800030000000001',
    debug: '[ meta set mark with reg 1 ]',
    node: { kind: 'meta-set', key: 'mark', sreg: 1 },
  },
  {
    rule: 'meta nftrace set 1',
    hex: '24000180 090001006d65746100000000 14000280 080002000000000c 0800030000000001',
    debug: '[ meta set nftrace with reg 1 ]',
    node: { kind: 'meta-set', key: 'nftrace', sreg: 1 },
  },
  {
    rule: 'meta random 5',
    hex: '24000180 090001006d65746100000000 14000280 0800020000000018 0800010000000001',
    debug: '[ meta load prandom => reg 1 ]',
    node: { kind: 'meta', key: 'prandom', dreg: 1 },
  },
]);
