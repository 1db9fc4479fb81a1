import assert from 'node:assert/strict';
import { test } from 'node:test';
import { poolSize, rowAfterKey, scrollTopFor, virtualWindow } from './virtual-window.ts';

const VIEWPORT = { scrollTop: 0, height: 600, rowHeight: 30, count: 44_125 };

test('PAGE-44 only the visible rows and a few more exist, wherever the list is scrolled', () => {
  const last = VIEWPORT.count * VIEWPORT.rowHeight;
  for (const scrollTop of [0, 1, 29, 30, 5000, 600_000, last - 600, last, last + 999, -50]) {
    const { first, end } = virtualWindow({ ...VIEWPORT, scrollTop });
    const top = Math.min(Math.max(0, scrollTop), last - 600);
    assert.ok(first * 30 <= top && end * 30 >= top + 600, `all visible rows at ${scrollTop}`);
    assert.ok(end - first <= poolSize(VIEWPORT), `few rows at ${scrollTop}`);
    assert.ok(first >= 0 && end <= VIEWPORT.count);
  }
});

test('PAGE-44 a short list has all of its rows, and an empty one none', () => {
  assert.deepEqual(virtualWindow({ ...VIEWPORT, count: 3 }), { first: 0, end: 3 });
  assert.deepEqual(virtualWindow({ ...VIEWPORT, count: 0, scrollTop: 90 }), { first: 0, end: 0 });
});

test('PAGE-44 keys lead to rows', () => {
  assert.equal(rowAfterKey('ArrowDown', 5, VIEWPORT), 6);
  assert.equal(rowAfterKey('ArrowUp', 0, VIEWPORT), 0);
  assert.equal(rowAfterKey('PageDown', 5, VIEWPORT), 24);
  assert.equal(rowAfterKey('PageUp', 5, VIEWPORT), 0);
  assert.equal(rowAfterKey('End', 5, VIEWPORT), 44_124);
  assert.equal(rowAfterKey('Home', 5, VIEWPORT), 0);
  assert.equal(rowAfterKey('x', 5, VIEWPORT), undefined);
});

test('PAGE-44 the list scrolls no more than it must to show a row', () => {
  const viewport = { ...VIEWPORT, scrollTop: 300 };
  assert.equal(scrollTopFor(15, viewport), 300);
  assert.equal(scrollTopFor(2, viewport), 60);
  assert.equal(scrollTopFor(40, viewport), 630);
});
