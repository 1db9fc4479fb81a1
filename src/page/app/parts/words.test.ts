import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ageText, clockText, millisecondsText } from './age.ts';
import { connectionWords } from './connection-words.ts';
import { isBrokenState, STATE_ORDER, stateWords } from './service-states.ts';

test('PAGE-39 ages and durations have few figures', () => {
  assert.deepEqual([-5, 999, 12_000, 11_520_000].map(ageText), ['now', 'now', '12 s ago', '3 h 12 min ago']);
  assert.deepEqual([0.04, 9.94, 27.4, 999, 1340, 75_000].map(millisecondsText), [
    '0.0 ms',
    '9.9 ms',
    '27 ms',
    '999 ms',
    '1.3 s',
    '1 min',
  ]);
  assert.equal(clockText(new Date(2026, 0, 2, 3, 4, 5, 6)), '03:04:05.006');
});

test('PAGE-39 the frame says how fresh the data is', () => {
  assert.equal(connectionWords('connecting', undefined).text, 'connecting');
  assert.equal(connectionWords('live', 1500).text, 'live, data 1 s old');
  assert.equal(connectionWords('reconnecting', 65_000).text, 'reconnecting, data 1 min old');
});

test('PAGE-41 each state has a word and a sign, also one that only a newer proxy knows', () => {
  for (const state of STATE_ORDER) assert.ok(stateWords(state).word !== '' && stateWords(state).sign !== '', state);
  assert.equal(stateWords('strange' as never).word, 'strange');
  assert.deepEqual(STATE_ORDER.filter(isBrokenState), [
    'setAside',
    'conflict',
    'problem',
    'noEndpoints',
    'noLocalEndpoints',
  ]);
});
