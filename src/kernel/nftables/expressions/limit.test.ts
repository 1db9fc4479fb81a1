import { testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'limit rate 10/second',
    hex: '44000180 0a0001006c696d6974000000 34000280 0c000100000000000000000a 0c0002000000000000000001 0800030000000005 0800040000000000 0800050000000000',
    debug: '[ limit rate 10/second burst 5 type packets flags 0x0 ]',
    node: { kind: 'limit', rate: 10n, unit: 'second', of: 'packets', burst: 5 },
  },
  {
    rule: 'limit rate over 10/minute burst 7 packets drop',
    hex: '44000180 0a0001006c696d6974000000 34000280 0c000100000000000000000a 0c000200000000000000003c 0800030000000007 0800040000000000 0800050000000001',
    debug: '[ limit rate 10/minute burst 7 type packets flags 0x1 ]',
    node: { kind: 'limit', rate: 10n, unit: 'minute', of: 'packets', burst: 7, over: true },
  },
  {
    rule: 'limit rate 1 mbytes/second burst 20 kbytes',
    hex: '44000180 0a0001006c696d6974000000 34000280 0c0001000000000000100000 0c0002000000000000000001 0800030000005000 0800040000000001 0800050000000000',
    debug: '[ limit rate 1048576/second burst 20480 type bytes flags 0x0 ]',
    node: { kind: 'limit', rate: 1048576n, unit: 'second', of: 'bytes', burst: 20480 },
  },
  {
    rule: 'limit rate 400 bytes/hour',
    hex: '3c000180 0a0001006c696d6974000000 2c000280 0c0001000000000000000190 0c0002000000000000000e10 0800040000000001 0800050000000000',
    debug: '[ limit rate 400/hour burst 0 type bytes flags 0x0 ]',
    node: { kind: 'limit', rate: 400n, unit: 'hour', of: 'bytes' },
  },
]);
