import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import { commandLine } from './command-line.ts';

test('a command line is printed as a shell takes it', () => {
  const args = ['-w', '5', '-A', 'FOO', '-t', 'nat', '-m', 'comment', '--comment', "it's a test", '', '-j', 'ACCEPT'];
  assert.equal(
    commandLine('iptables', args),
    "iptables -w 5 -A FOO -t nat -m comment --comment 'it'\\''s a test' '' -j ACCEPT",
  );
});

test('a shell makes of a printed command line the words that it was made of', () => {
  const words = fc.array(fc.string({ unit: 'binary' }).map(text => text.replaceAll('\0', '')));
  fc.assert(
    fc.property(words, args => {
      const { stdout } = spawnSync('/bin/sh', ['-c', commandLine('printf', ['%s\\0', ...args, 'end'])]);
      const wanted = [...args, 'end', ''].map(text => Buffer.from(text).toString());
      assert.deepEqual(stdout.toString().split('\0'), wanted);
    }),
    { numRuns: 30 },
  );
});
