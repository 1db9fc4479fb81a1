import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { Rounds } from './drift.ts';

function started() {
  const clock = new ManualClock();
  const done: string[] = [];
  const work = (what: string) => async () => {
    done.push(what);
  };
  const failed = (what: string) => done.push(`failed: ${what}`);
  const rounds = new Rounds(clock, { check: work('check'), verify: work('verify'), drain: work('drain'), failed });
  rounds.start();
  return { clock, done, rounds };
}

async function pass(clock: ManualClock, seconds: number): Promise<void> {
  for (let i = 0; i < seconds; i++) {
    await clock.advance(1000);
    // What was begun ends, and begins the next round.
    await new Promise(setImmediate);
  }
}

const count = (done: readonly string[], what: string) => done.filter(word => word === what).length;

test('IPVS-10 a few questions every second, everything every half minute', async () => {
  const { clock, done, rounds } = started();
  rounds.start();
  await pass(clock, 61);
  assert.equal(count(done, 'verify'), 2);
  assert.ok(count(done, 'check') > 50);
  rounds.close();
  assert.equal(clock.pending, 0);
});

test('IPVS-10 looking takes at most a twentieth of the time', async () => {
  const clock = new ManualClock();
  let verified = 0;
  const verify = () => {
    verified++;
    return new Promise<void>(resolve => void clock.setTimer(5000, resolve));
  };
  const nothing = async () => {};
  const rounds = new Rounds(clock, { check: nothing, verify, drain: nothing, failed: assert.fail });
  rounds.start();
  await pass(clock, 35 + 99);
  assert.equal(verified, 1);
  await pass(clock, 2);
  assert.equal(verified, 2);
  rounds.close();
});

test('IPVS-10 whoever undoes every repair is answered by the slow round only', async () => {
  const { clock, done, rounds } = started();
  const repair = async () => void done.push('repair');
  for (let i = 0; i < 10; i++) rounds.noteRepair();
  rounds.repairSoon(repair);
  await pass(clock, 31);
  assert.deepEqual([count(done, 'check'), count(done, 'verify'), count(done, 'repair')], [0, 1, 0]);
  await pass(clock, 31);
  assert.ok(count(done, 'check') > 0, 'it is trusted again after a minute');
  rounds.repairSoon(repair);
  await pass(clock, 1);
  assert.equal(count(done, 'repair'), 1);
  rounds.close();
});

test('IPVS-11 draining is asked for once, however often; what is soon is once too; failures are told', async () => {
  const { clock, done, rounds } = started();
  rounds.drainLater();
  rounds.drainLater();
  for (let i = 0; i < 3; i++) rounds.soon('readdressing', () => Promise.reject(new Error('no')));
  await pass(clock, 11);
  assert.equal(count(done, 'drain'), 1);
  assert.equal(count(done, 'failed: readdressing what ipvs mode wrote'), 1);
  rounds.close();
  rounds.drainLater();
  assert.equal(clock.pending, 0);
});
