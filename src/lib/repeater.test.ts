import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { Repeater } from './repeater.ts';

test('work is repeated one period after its end', async () => {
  const clock = new ManualClock();
  let times = 0;
  let end = () => {};
  const repeater = new Repeater(clock, 100, () => {
    times++;
    return new Promise(resolve => {
      end = resolve;
    });
  });
  await clock.advance(99);
  assert.equal(times, 0);
  await clock.advance(1000);
  assert.equal(times, 1, 'the work has not ended');
  end();
  await clock.advance(99);
  assert.equal(times, 1);
  await clock.advance(1);
  assert.equal(times, 2);
  end();
  await repeater.close();
  assert.equal(clock.pending, 0);
});

test('a new period begins when it is set, or after the work that is running', async () => {
  const clock = new ManualClock();
  let times = 0;
  let end = () => {};
  const repeater = new Repeater(clock, 1_000_000, () => {
    times++;
    return new Promise(resolve => {
      end = resolve;
    });
  });
  await clock.advance(500);
  repeater.setPeriod(100);
  await clock.advance(100);
  assert.equal(times, 1);
  repeater.setPeriod(10);
  await clock.advance(50);
  assert.equal(times, 1);
  end();
  await clock.advance(10);
  assert.equal(times, 2);
  end();
  await repeater.close();
});

test('close waits for the work that is running, and nothing is repeated afterwards', async () => {
  const clock = new ManualClock();
  let end = () => {};
  const repeater = new Repeater(clock, 1, () => new Promise(resolve => (end = resolve)));
  await clock.advance(1);
  let closed = false;
  const closing = repeater.close().then(() => {
    closed = true;
  });
  await clock.advance(10);
  assert.equal(closed, false);
  end();
  await closing;
  assert.equal(clock.pending, 0);
});
