import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setOomScore } from './oom-score.ts';

const read = () => Number(readFileSync('/proc/self/oom_score_adj', 'utf8'));

test('KERNEL-14 sets the OOM score of this process, and throws if the kernel refuses the score', () => {
  const before = read();
  try {
    setOomScore(321);
    assert.equal(read(), 321);
    setOomScore(320);
    assert.equal(read(), 320);
    assert.throws(() => setOomScore(1001), {
      name: 'KernelError',
      errno: 'EINVAL',
      message: /^set oom_score_adj to 1001: EINVAL/,
    });
    assert.equal(read(), 320);
  } finally {
    setOomScore(before);
  }
});
