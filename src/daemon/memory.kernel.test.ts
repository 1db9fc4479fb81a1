import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { rememberingLog } from '../../test/support/log.ts';
import { setOwnOomScore } from './memory.ts';

const read = () => Number(readFileSync('/proc/self/oom_score_adj', 'utf8'));

test('START-15 the configured OOM score is set, and one that the kernel refuses is logged without an error', () => {
  const { log, lines } = rememberingLog();
  const before = read();
  try {
    setOwnOomScore(before + 1, log);
    assert.equal(read(), before + 1);
    setOwnOomScore(undefined, log);
    assert.equal(read(), before + 1);
    assert.deepEqual(lines, []);
    setOwnOomScore(1001, log);
    assert.equal(read(), before + 1);
    assert.match(lines.join('\n'), /^I Failed to apply OOMScore \{"err":"set oom_score_adj to 1001: EINVAL.*\}$/);
  } finally {
    setOwnOomScore(before, log);
  }
});
