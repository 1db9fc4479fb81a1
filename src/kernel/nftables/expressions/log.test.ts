import { testWire } from '../../../../test/support/wire-case.ts';

testWire([
  {
    rule: 'log',
    hex: '10000180 080001006c6f6700 04000280',
    debug: '[ log ]',
    node: { kind: 'log' },
  },
  {
    rule: 'log prefix "dropped: " level warn',
    hex: '28000180 080001006c6f6700 1c000280 0e00020064726f707065643a20000000 0800050000000004',
    debug: '[ log prefix dropped:  level 4 ]',
    node: { kind: 'log', prefix: 'dropped: ', level: 'warn' },
  },
  {
    rule: 'log prefix "x" group 5 snaplen 64 queue-threshold 3',
    hex: '30000180 080001006c6f6700 24000280 0600020078000000 0600010000050000 0800030000000040 0600040000030000',
    debug: '[ log prefix x group 5 snaplen 64 qthreshold 3 ]',
    node: { kind: 'log', prefix: 'x', group: 5, snaplen: 64, queueThreshold: 3 },
  },
  {
    rule: 'log flags all',
    hex: '18000180 080001006c6f6700 0c000280 080006000000002f',
    debug: '[ log tcpseq tcpopt ipopt uid macdecode ]',
    node: { kind: 'log', flags: ['tcpseq', 'tcpopt', 'ipopt', 'uid', 'macdecode'] },
  },
  {
    rule: 'log level audit',
    hex: '18000180 080001006c6f6700 0c000280 0800050000000008',
    debug: '[ log level 8 ]',
    node: { kind: 'log', level: 'audit' },
  },
]);
