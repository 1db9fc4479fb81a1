import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { RepairLimiter } from './repair-limiter.ts';

function limiter() {
  const clock = new ManualClock();
  const limits = { atOnce: 3, windowMs: 10_000, firstPauseMs: 1000, maxPauseMs: 3000 };
  return { clock, limiter: new RepairLimiter(clock, limits) };
}

function repair(limited: RepairLimiter, times: number): void {
  for (let i = 0; i < times; i++) limited.noteRepair();
}

describe('MODE-6 repair limiter', () => {
  test('the limiter allows some repairs at once, and then makes each repair wait longer', () => {
    const { limiter: limited } = limiter();
    repair(limited, 2);
    assert.deepEqual([limited.isExhausted, limited.nextPauseMs()], [false, 0]);
    repair(limited, 1);
    assert.equal(limited.isExhausted, true);
    const pauses = Array.from({ length: 4 }, () => {
      const pause = limited.nextPauseMs();
      limited.noteRepair();
      return pause;
    });
    assert.deepEqual(pauses, [1000, 2000, 3000, 3000]);
  });

  test('the limiter allows repairs at once again after a time with few repairs', async () => {
    const { clock, limiter: limited } = limiter();
    repair(limited, 3);
    assert.equal(limited.nextPauseMs(), 1000);
    await clock.advance(10_000);
    assert.deepEqual([limited.isExhausted, limited.nextPauseMs()], [false, 0]);
    repair(limited, 3);
    assert.equal(limited.nextPauseMs(), 1000, 'the first pause is short again');
  });

  test('by default the limiter allows ten repairs within ten seconds, and makes none wait longer than 30 s', async () => {
    const clock = new ManualClock();
    const limited = new RepairLimiter(clock);
    repair(limited, 9);
    assert.equal(limited.isExhausted, false);
    repair(limited, 1);
    const pauses = Array.from({ length: 7 }, () => limited.nextPauseMs());
    assert.deepEqual(pauses, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    await clock.advance(9_999);
    assert.equal(limited.isExhausted, true);
    await clock.advance(1);
    assert.equal(limited.isExhausted, false);
  });

  test('the limiter makes a failed repair wait, even after few repairs', () => {
    const { limiter: limited } = limiter();
    assert.deepEqual([limited.pauseAfterFailureMs(), limited.pauseAfterFailureMs()], [1000, 2000]);
  });
});
