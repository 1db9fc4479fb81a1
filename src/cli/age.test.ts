import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ageText } from './age.ts';

test('HISTORY-28 an age has one unit, as in kubectl', () => {
  const ages = [-5, 0, 119, 120, 10_799, 10_800, 172_799, 172_800].map(seconds => ageText(seconds * 1000));
  assert.deepEqual(ages, ['0s', '0s', '119s', '2m', '179m', '3h', '47h', '2d']);
});
