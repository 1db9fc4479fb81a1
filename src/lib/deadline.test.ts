import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDeadline } from './deadline.ts';

function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

test('PLAY-1 a deadline calls back once, and not too early', async () => {
  const start = performance.now();
  let calls = 0;
  await new Promise<void>(resolve => {
    startDeadline(40, () => {
      calls++;
      resolve();
    });
  });
  assert.ok(performance.now() - start >= 39);
  await sleep(10);
  assert.equal(calls, 1);
});

test('PLAY-1 a deadline that was stopped does not call back', async () => {
  let calls = 0;
  const deadline = startDeadline(20, () => calls++);
  await sleep(5);
  deadline.stop();
  await sleep(40);
  assert.equal(calls, 0);
});

test('PLAY-1 time in which the process is blocked does not count', async () => {
  let calls = 0;
  const deadline = startDeadline(60, () => calls++);
  block(100);
  await sleep(5);
  assert.equal(calls, 0);
  deadline.stop();
});
