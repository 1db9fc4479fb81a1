import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { restoreLines } from './restore-failure.ts';

const input = ['*nat', ':FOO - [0:0]', '-A FOO -j ACCEPT', '-A FOO -s 1.2.3.4 -j NOPE', '-A FOO -g NOPE', 'COMMIT'];

/** Messages of iptables-restore 1.8.9, of both backends. */
const cases: readonly { name: string; stderr: string; numbers: readonly number[]; message?: string }[] = [
  {
    name: 'the kernel refuses a line of the legacy backend',
    stderr: 'iptables-restore: line 4 failed\n',
    numbers: [4],
  },
  {
    name: 'the program of the nf_tables backend refuses a line',
    stderr: 'iptables-nft-restore: line 4 failed: No chain/target/match by that name.\n',
    numbers: [4],
    message: 'No chain/target/match by that name.',
  },
  {
    name: 'an unknown option',
    stderr:
      'iptables-restore v1.8.9 (legacy): unknown option "--bogus"\nError occurred at line: 3\n' +
      "Try `iptables-restore -h' or 'iptables-restore --help' for more information.\n",
    numbers: [3],
  },
  {
    name: 'the kernel refuses several rules of the nf_tables backend',
    stderr:
      'iptables-nft-restore v1.8.9 (nf_tables): \n' +
      'line 3: RULE_APPEND failed (No such file or directory): rule in chain FOO\n' +
      'line 5: RULE_APPEND failed (No such file or directory): rule in chain FOO\n',
    numbers: [3, 5],
    message: 'RULE_APPEND failed (No such file or directory): rule in chain FOO',
  },
  { name: 'an input without COMMIT', stderr: 'iptables-restore: COMMIT expected at line 6\n', numbers: [6] },
  { name: 'incomplete counters', stderr: 'iptables-restore v1.8.9: Bad line 2: need ]\n', numbers: [2] },
  {
    name: 'a table that does not exist',
    stderr:
      "iptables-nft-restore v1.8.9 (nf_tables): iptables-nft-restore: line 1 table name 'nope' invalid\n" +
      'Error occurred at line: 1\n',
    numbers: [1],
  },
  {
    name: 'a missing chain that is reported at COMMIT gives the rules that jump to it',
    stderr: "iptables-nft-restore v1.8.9 (nf_tables): Chain 'NOPE' does not exist\nError occurred at line: 6\n",
    numbers: [4, 5],
  },
  {
    name: 'a missing chain that no rule jumps to gives the reported line',
    stderr: "iptables-nft-restore v1.8.9 (nf_tables): Chain 'NOP' does not exist\nError occurred at line: 6\n",
    numbers: [6],
  },
  {
    name: 'a missing chain that is reported at a rule gives only that rule',
    stderr: "iptables-nft-restore v1.8.11 (nf_tables): Chain 'NOPE' does not exist\nError occurred at line: 5\n",
    numbers: [5],
  },
  { name: 'a line number beyond the input', stderr: 'iptables-restore: line 40 failed\n', numbers: [] },
  {
    name: 'a message without a line number',
    stderr: 'Another app is currently holding the xtables lock. Stopped waiting after 5s.\n',
    numbers: [],
  },
  { name: 'no message', stderr: '', numbers: [] },
];

for (const { name, stderr, numbers, message } of cases) {
  test(`KERNEL-9 finds the refused lines in the message of restore: ${name}`, () => {
    const wanted = numbers.map(number => ({ number, text: input[number - 1], message }));
    assert.deepEqual(
      restoreLines(stderr, () => input),
      wanted,
    );
  });
}

test('KERNEL-9 arbitrary messages of restore never make the reader throw', () => {
  const word = fc.constantFrom(
    'line',
    ' ',
    ':',
    '3',
    '99999999999999999999',
    'failed',
    '\n',
    "Chain 'X' does not exist",
    'COMMIT',
  );
  fc.assert(
    fc.property(fc.array(word), words => {
      for (const { number } of restoreLines(words.join(''), () => input)) assert.ok(number <= input.length);
    }),
  );
});
