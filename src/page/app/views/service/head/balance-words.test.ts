import assert from 'node:assert/strict';
import { test } from 'node:test';
import { balanceWords } from './balance-words.ts';

test('BALANCE-24 the head of a Service has the algorithm, who chose it, and what the mode does not have', () => {
  assert.equal(balanceWords({ algorithm: 'weighted', from: 'annotation' }), 'weighted (annotation)');
  assert.equal(
    balanceWords({ algorithm: 'consistent-hash', from: 'default', hashBy: 'client-address' }),
    'consistent-hash by client-address (default)',
  );
  assert.equal(balanceWords({ from: 'mode' }), 'as the mode does');
  assert.equal(balanceWords({ from: 'mode', unavailable: 'weighted' }), 'as the mode does (weighted is not available)');
});
