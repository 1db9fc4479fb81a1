import assert from 'node:assert/strict';
import { test } from 'node:test';
import { move } from './moves.ts';

const CHOICES = { callers: ['pod', 'node', 'outside'], frontends: ['a', 'b'] };

test('PAGE-66 arrow keys go up and down in a column, and to the other column', () => {
  const from = (column: 'callers' | 'frontends', id: string, key: string) => move(CHOICES, { column, id }, key)?.id;
  assert.equal(from('callers', 'pod', 'ArrowDown'), 'node');
  assert.equal(from('callers', 'pod', 'ArrowUp'), undefined);
  assert.equal(from('callers', 'outside', 'ArrowDown'), undefined);
  assert.equal(from('callers', 'outside', 'ArrowRight'), 'b', 'the other column is shorter');
  assert.equal(from('frontends', 'b', 'ArrowLeft'), 'node');
  assert.equal(from('frontends', 'b', 'ArrowRight'), undefined);
  assert.equal(from('frontends', 'b', 'x'), undefined);
  assert.equal(move({ ...CHOICES, frontends: [] }, { column: 'callers', id: 'pod' }, 'ArrowRight'), undefined);
});
