import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesText } from './bytes-text.ts';

test('TRAFFIC-12 bytes are shown with a unit and at most three digits', () => {
  const texts = [0, 999, 1000, 1536, 12 * 1024 ** 2, 999 * 1024 ** 3, 5.5e15].map(bytesText);
  assert.deepEqual(texts, ['0 B', '999 B', '1.0 KiB', '1.5 KiB', '12 MiB', '999 GiB', '4.9 PiB']);
});
