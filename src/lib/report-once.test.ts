import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReportOnce } from './report-once.ts';

test('a text is reported once, and again when it changed or was forgotten', () => {
  const once = new ReportOnce();
  assert.equal(once.add('a.yaml', 'is broken'), true);
  assert.equal(once.add('a.yaml', 'is broken'), false);
  assert.equal(once.add('b.yaml', 'is broken'), true);
  assert.equal(once.add('a.yaml', 'is too long'), true);
  assert.deepEqual([...once.subjects()], ['a.yaml', 'b.yaml']);
  assert.equal(once.delete('a.yaml'), true);
  assert.equal(once.delete('a.yaml'), false);
  assert.equal(once.add('a.yaml', 'is too long'), true);
});
