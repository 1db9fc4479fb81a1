import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import { commandLine } from './command-line.ts';

test('KERNEL-9 a command line prints as an operator can give it to a shell', () => {
  const args = ['-w', '5', '-A', 'FOO', '-t', 'nat', '-m', 'comment', '--comment', "it's a test", '', '-j', 'ACCEPT'];
  assert.equal(
    commandLine('iptables', args),
    "iptables -w 5 -A FOO -t nat -m comment --comment 'it'\\''s a test' '' -j ACCEPT",
  );
});

test('KERNEL-9 a shell splits a printed command line into the original words', () => {
  const word = fc.string({ unit: fc.constantFrom(...'ab"\\\'$`!*?[]{} \t\n;&|<>()#~=ü€') });
  const words = ['', '~', ...fc.sample(word, { numRuns: 300, seed: 1 })];
  const { stdout } = spawnSync('/bin/sh', ['-c', commandLine('printf', ['%s\\0', ...words])]);
  assert.deepEqual(stdout.toString().split('\0'), [...words, '']);
});
