import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Fault } from '../faults/fault.ts';
import { FAULTS } from '../faults/index.ts';
import { makeSchedule, scheduleLines } from './schedule.ts';

test('CHAOS-1 the same seed gives the same schedule, and another seed another one', () => {
  const lines = (seed: number) => scheduleLines(makeSchedule(seed, 10, FAULTS));
  assert.deepEqual(lines(7), lines(7));
  assert.notDeepEqual(lines(7), lines(8));
});

test('CHAOS-1 a shorter run has the first rounds of a longer run', () => {
  const long = scheduleLines(makeSchedule(7, 10, FAULTS));
  const short = scheduleLines(makeSchedule(7, 2, FAULTS));
  assert.deepEqual(short, long.slice(0, short.length));
});

test('CHAOS-1 every fault comes once before any fault comes again', () => {
  for (let seed = 0; seed < 50; seed++) {
    const names = makeSchedule(seed, 20, FAULTS).flatMap(({ faults }) => faults.map(({ fault }) => fault.name));
    for (let begin = 0; begin + FAULTS.length <= names.length; begin += FAULTS.length) {
      assert.equal(new Set(names.slice(begin, begin + FAULTS.length)).size, FAULTS.length, `seed ${seed}`);
    }
  }
});

test('CHAOS-2 the faults of a round have different targets, and begin within three seconds', () => {
  for (let seed = 0; seed < 50; seed++) {
    for (const { faults } of makeSchedule(seed, 10, FAULTS)) {
      const targets = faults.map(({ fault }) => fault.target);
      assert.equal(new Set(targets).size, targets.length);
      assert.ok(faults.length > 0 && faults.every(({ afterMs }) => afterMs >= 0 && afterMs <= 3000));
    }
  }
});

test('CHAOS-13 the table of the spec has every fault, with what it takes and its bound', () => {
  const rows = [...readFileSync('docs/spec/chaos.md', 'utf8').matchAll(/^\| `(\S+)` \|.*\| (\w*) *\| (\d+) s \|$/gm)];
  const takes = ({ impairs }: Fault) => (impairs.length > 1 ? 'both' : (impairs[0] ?? ''));
  assert.deepEqual(
    rows.map(([, name, taken, seconds]) => `${name} ${taken} ${seconds}`),
    FAULTS.map(fault => `${fault.name} ${takes(fault)} ${fault.recoveryMs / 1000}`),
  );
});

test('CHAOS-1 the schedule is printed with one line for each fault', () => {
  const [kill] = FAULTS;
  assert.ok(kill);
  const planned = { fault: kill, settings: { times: 2, pauseMs: 10 }, afterMs: 1230 };
  assert.deepEqual(scheduleLines([{ number: 3, atMs: 40_000, faults: [planned] }]), [
    'round 3, from 40 s: +1.2 s kill {"times":2,"pauseMs":10}',
  ]);
});
