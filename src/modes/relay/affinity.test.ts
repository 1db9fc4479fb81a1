import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { Affinity } from './affinity.ts';

test('USER-11 at the limit of clients the oldest is forgotten', () => {
  const affinity = new Affinity<string>(new ManualClock(), 2);
  affinity.configure(10);
  affinity.remember('a', 'A');
  affinity.remember('b', 'B');
  affinity.remember('a', 'A');
  affinity.remember('c', 'C');
  assert.deepEqual([affinity.find('a'), affinity.find('b'), affinity.find('c')], ['A', undefined, 'C']);
  assert.equal(affinity.size, 2);
});

test('USER-11 a client whose affinity has ended takes no memory', async () => {
  const clock = new ManualClock();
  const affinity = new Affinity<string>(clock);
  affinity.configure(10);
  affinity.remember('a', 'A');
  await clock.advance(5000);
  affinity.remember('b', 'B');
  await clock.advance(5000);
  affinity.expire();
  assert.equal(affinity.size, 1);
  affinity.configure(0);
  assert.equal(affinity.size, 0);
});
