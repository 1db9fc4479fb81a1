import { testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'update @aff { ip saddr }',
    hex: '34000180 0b00010064796e7365740000 24000280 0800040000000001 0800030000000001 0800010061666600 0800020000000002',
    debug: '[ dynset update reg_key 1 set aff ]',
    node: { kind: 'dynset', op: 'update', set: 'aff', sregKey: 1, setId: 2 },
  },
  {
    rule: 'update @aff { ip saddr timeout 1h }',
    hex: '40000180 0b00010064796e7365740000 30000280 0800040000000001 0800030000000001 0c000600000000000036ee80 0800010061666600 0800020000000002',
    debug: '[ dynset update reg_key 1 set aff timeout 3600000ms ]',
    node: { kind: 'dynset', op: 'update', set: 'aff', sregKey: 1, setId: 2, timeout: 3600000n },
  },
  {
    rule: 'add @aff { ip saddr timeout 90s }',
    hex: '40000180 0b00010064796e7365740000 30000280 0800040000000001 0800030000000000 0c0006000000000000015f90 0800010061666600 0800020000000002',
    debug: '[ dynset add reg_key 1 set aff timeout 90000ms ]',
    node: { kind: 'dynset', op: 'add', set: 'aff', sregKey: 1, setId: 2, timeout: 90000n },
  },
  {
    rule: 'delete @aff { ip saddr }',
    hex: '34000180 0b00010064796e7365740000 24000280 0800040000000001 0800030000000002 0800010061666600 0800020000000002',
    debug: '[ dynset delete reg_key 1 set aff ]',
    node: { kind: 'dynset', op: 'delete', set: 'aff', sregKey: 1, setId: 2 },
  },
  {
    rule: 'update @m { ip saddr : tcp dport }',
    hex: '3c000180 0b00010064796e7365740000 2c000280 0800040000000001 0800050000000002 0800030000000001 060001006d000000 0800020000000004',
    debug: '[ dynset update reg_key 1 set m sreg_data 2 ]',
    node: { kind: 'dynset', op: 'update', set: 'm', sregKey: 1, setId: 4, sregData: 2 },
  },
  {
    rule: 'add @mtr { ip saddr counter } drop',
    hex: '48000180 0b00010064796e7365740000 38000280 0800040000000001 0800030000000000 080001006d747200 0800020000000003 14000780 0c000100636f756e74657200 04000280',
    debug: '[ dynset add reg_key 1 set mtr expr [ counter pkts 0 bytes 0 ] ]',
    node: { kind: 'dynset', op: 'add', set: 'mtr', sregKey: 1, setId: 3, expressions: [{ kind: 'counter' }] },
  },
  {
    rule: 'add @mtr { ip saddr limit rate over 10/minute burst 3 packets counter } drop',
    hex: '98000180 0b00010064796e7365740000 88000280 0800040000000001 0800030000000000 080001006d747200 0800020000000003 5c000a80 44000180 0a0001006c696d6974000000 34000280 0c000100000000000000000a 0c000200000000000000003c 0800030000000003 0800040000000000 0800050000000001 14000180 0c000100636f756e74657200 04000280 0800090000000002',
    debug:
      '[ dynset add reg_key 1 set mtr expr [ limit rate 10/minute burst 3 type packets flags 0x1 ] expr [ counter pkts 0 bytes 0 ] ]',
    node: {
      kind: 'dynset',
      op: 'add',
      set: 'mtr',
      sregKey: 1,
      setId: 3,
      expressions: [
        { kind: 'limit', rate: 10n, unit: 'minute', of: 'packets', burst: 3, over: true },
        { kind: 'counter' },
      ],
    },
  },
]);
