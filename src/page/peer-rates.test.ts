import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { PeerRates } from './peer-rates.ts';

test('PAGE-10 however many peers come, memory is limited, and a peer that stays keeps its rate', () => {
  const rates = new PeerRates({ burst: 3, everyMs: 1000 }, new ManualClock());
  for (let i = 0; i < 3; i++) assert.ok(rates.take('busy'));
  for (let i = 0; i < 5000; i++) {
    rates.take(`peer ${i}`);
    if (i % 500 === 0) assert.equal(rates.take('busy'), false);
  }
  assert.equal(rates.size, 1024);
});
