import { bytes, testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'meta mark & 0x4000 != 0 meta mark set meta mark ^ 0x4000',
    hex: '4c000180 0c0001006269747769736500 3c000280 0800010000000001 0800020000000001 0800060000000000 0800030000000004 0c000480 0800010000400000 0c000580 0800010000000000',
    debug: '[ bitwise reg 1 = ( reg 1 & 0x00004000 ) ^ 0x00000000 ]',
    node: { kind: 'bitwise', sreg: 1, dreg: 1, mask: bytes('00400000'), xor: bytes('00000000') },
  },
  {
    rule: 'meta mark & 0x4000 != 0 meta mark set meta mark ^ 0x4000',
    hex: '4c000180 0c0001006269747769736500 3c000280 0800010000000001 0800020000000001 0800060000000000 0800030000000004 0c000480 08000100ffffffff 0c000580 0800010000400000',
    debug: '[ bitwise reg 1 = ( reg 1 & 0xffffffff ) ^ 0x00004000 ]',
    node: { kind: 'bitwise', sreg: 1, dreg: 1, mask: bytes('ffffffff'), xor: bytes('00400000') },
  },
  {
    rule: 'meta mark set meta mark | 0x4000',
    hex: '4c000180 0c0001006269747769736500 3c000280 0800010000000001 0800020000000001 0800060000000000 0800030000000004 0c000480 08000100ffbfffff 0c000580 0800010000400000',
    debug: '[ bitwise reg 1 = ( reg 1 & 0xffffbfff ) ^ 0x00004000 ]',
    node: { kind: 'bitwise', sreg: 1, dreg: 1, mask: bytes('ffbfffff'), xor: bytes('00400000') },
  },
  {
    rule: 'ip6: ip6 saddr & ffff:: == 1::',
    hex: '64000180 0c0001006269747769736500 54000280 0800010000000001 0800020000000001 0800060000000000 0800030000000010 18000480 14000100ffff0000000000000000000000000000 18000580 1400010000000000000000000000000000000000',
    debug:
      '[ bitwise reg 1 = ( reg 1 & 0x0000ffff 0x00000000 0x00000000 0x00000000 ) ^ 0x00000000 0x00000000 0x00000000 0x00000000 ]',
    node: {
      kind: 'bitwise',
      sreg: 1,
      dreg: 1,
      mask: bytes('ffff0000 00000000 00000000 00000000'),
      xor: bytes('00000000 00000000 00000000 00000000'),
    },
  },
  {
    rule: 'meta mark set ct mark << 4',
    hex: '40000180 0c0001006269747769736500 30000280 0800010000000001 0800020000000001 0800060000000001 0800030000000004 0c000780 0800010004000000',
    debug: '[ bitwise reg 1 = ( reg 1 << 0x00000004 ) ]',
    node: { kind: 'shift', op: 'lshift', sreg: 1, dreg: 1, len: 4, bits: 4 },
  },
  {
    rule: 'meta mark set meta mark >> 8',
    hex: '40000180 0c0001006269747769736500 30000280 0800010000000001 0800020000000001 0800060000000002 0800030000000004 0c000780 0800010008000000',
    debug: '[ bitwise reg 1 = ( reg 1 >> 0x00000008 ) ]',
    node: { kind: 'shift', op: 'rshift', sreg: 1, dreg: 1, len: 4, bits: 8 },
  },
]);
