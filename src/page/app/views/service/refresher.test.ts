import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Refresher } from './refresher.ts';

/** A clock that the test moves, and readings that the test ends. */
function lab() {
  let time = 0;
  let timers: { readonly at: number; readonly run: () => void }[] = [];
  const readings: (() => void)[] = [];
  const refresher = new Refresher({
    everyMs: 2000,
    now: () => time,
    schedule: (run, ms) => {
      const timer = { at: time + ms, run };
      timers.push(timer);
      return () => {
        timers = timers.filter(each => each !== timer);
      };
    },
    read: () => new Promise(resolve => readings.push(resolve)),
  });
  return {
    refresher,
    readings,
    get timers() {
      return timers.length;
    },
    async endReading() {
      readings.at(-1)?.();
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    },
    advance(ms: number) {
      time += ms;
      const due = timers.filter(({ at }) => at <= time);
      timers = timers.filter(({ at }) => at > time);
      for (const { run } of due) run();
    },
  };
}

describe('reading again after changes', () => {
  test('PAGE-75 the first request reads at once, and further ones wait until two seconds have passed', async () => {
    const { refresher, readings, endReading, advance } = lab();
    refresher.request();
    assert.equal(readings.length, 1);
    await endReading();
    refresher.request();
    refresher.request();
    advance(1999);
    assert.equal(readings.length, 1);
    advance(1);
    assert.equal(readings.length, 2);
  });

  test('PAGE-75 a request during a reading reads once more, never two at a time', async () => {
    const { refresher, readings, endReading, advance } = lab();
    refresher.request();
    refresher.request();
    advance(10_000);
    assert.equal(readings.length, 1);
    await endReading();
    advance(2000);
    assert.equal(readings.length, 2);
    await endReading();
    advance(10_000);
    assert.equal(readings.length, 2);
  });

  test('PAGE-75 nothing is read after it is closed', async () => {
    const closed = lab();
    closed.refresher.request();
    await closed.endReading();
    closed.refresher.request();
    closed.refresher.close();
    closed.refresher.request();
    closed.advance(10_000);
    assert.equal(closed.readings.length, 1);
    assert.equal(closed.timers, 0);
  });
});
