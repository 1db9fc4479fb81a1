import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effect, signal } from '@preact/signals';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { throttled } from './throttled.ts';

test('PAGE-44 the list is drawn at most once in a while, and always with the last rows', async () => {
  const clock = new ManualClock();
  const source = signal(0);
  const shown = throttled(source, 200, clock);
  const seen: number[] = [];
  effect(() => void seen.push(shown.value));
  source.value = 1;
  for (const value of [2, 3, 4]) source.value = value;
  assert.deepEqual(seen, [0, 1], 'the first change at once, the others later');
  await clock.advance(200);
  assert.deepEqual(seen, [0, 1, 4]);
  source.value = 5;
  await clock.advance(199);
  assert.deepEqual(seen, [0, 1, 4]);
  await clock.advance(1);
  assert.deepEqual(seen, [0, 1, 4, 5]);
  await clock.advance(200);
  source.value = 6;
  assert.deepEqual(seen, [0, 1, 4, 5, 6], 'after a pause at once again');
});
