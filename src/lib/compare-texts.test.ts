import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareTexts } from './compare-texts.ts';

test('texts are sorted by their code units, whatever the locale is', () => {
  assert.deepEqual(['b', 'a', 'B', 'ä', 'a1', 'a10', 'a'].sort(compareTexts), ['B', 'a', 'a', 'a1', 'a10', 'b', 'ä']);
});
