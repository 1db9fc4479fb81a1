import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  all,
  boundsOf,
  type ChosenSpan,
  current,
  formatSpan,
  momentAt,
  pan,
  parseSpan,
  positionOf,
  select,
  spanText,
  zoom,
} from './span.ts';
import { ticksOf } from './ticks.ts';

const NOW = Date.parse('2026-11-16T12:00:00Z');
const MINUTE = 60_000;
const BOUNDS = { from: NOW - 60 * MINUTE, until: NOW };
const FOLLOWING: ChosenSpan = { from: NOW - 15 * MINUTE, until: NOW, isFollowing: true };
const FIXED: ChosenSpan = { from: NOW - 30 * MINUTE, until: NOW - 20 * MINUTE, isFollowing: false };

test('PAGE-91 without parameters the axis shows the last 15 minutes and follows', () => {
  assert.deepEqual(parseSpan('', '', NOW), FOLLOWING);
  assert.deepEqual(parseSpan('nonsense', 'nonsense', NOW), FOLLOWING);
  assert.deepEqual(current(FOLLOWING, NOW + 5000), { from: NOW - 895_000, until: NOW + 5000, isFollowing: true });
  assert.deepEqual(current(FIXED, NOW + 5000), FIXED);
});

test('PAGE-91 the address keeps a span: times, or a length that follows', () => {
  for (const text of ['-90s', '-15m', '-2h']) {
    const span = parseSpan(text, '', NOW);
    assert.deepEqual(formatSpan(span), { from: text, until: '' });
    assert.ok(span.isFollowing);
  }
  const texts = formatSpan(FIXED);
  assert.deepEqual(texts, { from: '2026-11-16T11:30:00.000Z', until: '2026-11-16T11:40:00.000Z' });
  assert.deepEqual(parseSpan(texts.from, texts.until, NOW), FIXED);
  assert.equal(parseSpan(texts.until, texts.from, NOW).from, FIXED.from - 1000, 'ends in the wrong order');
});

test('PAGE-91 a zoom keeps the moment below the pointer in its place', () => {
  const around = FIXED.from + 2.5 * MINUTE;
  const zoomed = zoom(FIXED, 0.5, around, BOUNDS);
  assert.equal(zoomed.until - zoomed.from, 5 * MINUTE);
  assert.equal(positionOf(around, zoomed, 1000), positionOf(around, FIXED, 1000));
  assert.equal(momentAt(250, FIXED, 1000), around);
});

test('PAGE-91 a part is at least a second long, at most the whole axis, and follows at the end', () => {
  assert.equal(zoom(FIXED, 1e-9, FIXED.from, BOUNDS).until - FIXED.from, 1000);
  assert.deepEqual(zoom(FIXED, 1e9, FIXED.from, BOUNDS), all(BOUNDS));
  assert.deepEqual(zoom(FOLLOWING, 0.2, NOW - MINUTE, BOUNDS), {
    from: NOW - 3 * MINUTE,
    until: NOW,
    isFollowing: true,
  });
  assert.deepEqual(pan(FIXED, 10, BOUNDS), { from: NOW - 10 * MINUTE, until: NOW, isFollowing: true });
  assert.deepEqual(pan(FIXED, -10, BOUNDS), {
    from: BOUNDS.from,
    until: BOUNDS.from + 10 * MINUTE,
    isFollowing: false,
  });
  assert.equal(pan(FOLLOWING, -0.25, BOUNDS).isFollowing, false);
});

test('PAGE-91 a reader draws a span in either direction', () => {
  const [a, b] = [NOW - 20 * MINUTE, NOW - 30 * MINUTE];
  assert.deepEqual(select(a, b, BOUNDS), FIXED);
  assert.deepEqual(select(b, a, BOUNDS), FIXED);
});

test('PAGE-90 the whole axis begins with the history, and is never shorter than 15 minutes', () => {
  assert.deepEqual(boundsOf(NOW, NOW - 5000, undefined), { from: NOW - 15 * MINUTE, until: NOW });
  assert.deepEqual(boundsOf(NOW, NOW - 5000, NOW - 90 * MINUTE), { from: NOW - 90 * MINUTE, until: NOW });
  assert.equal(spanText(FOLLOWING), '15 min until now');
});

test('PAGE-95 ticks are round times, and not more than there is room for', () => {
  assert.deepEqual(
    ticksOf(FOLLOWING, 5, 0).map(({ text }) => text),
    ['11:45', '11:50', '11:55', '12:00'],
  );
  const seconds = { from: NOW - 1500, until: NOW };
  assert.deepEqual(
    ticksOf(seconds, 3, 0).map(({ text }) => text),
    ['11:59:58.5', '11:59:59.0', '11:59:59.5', '12:00:00.0'],
  );
  const days = { from: NOW - 40 * 24 * 60 * MINUTE, until: NOW };
  assert.deepEqual(
    ticksOf(days, 4, 60 * MINUTE).map(({ at, text }) => [new Date(at).toISOString().slice(11, 16), text]),
    [
      ['23:00', '10-08'],
      ['23:00', '10-22'],
      ['23:00', '11-05'],
    ],
  );
  for (const count of [1, 2, 3, 7, 20]) {
    for (const length of [1000, 61_000, 3_600_000, 86_400_000, 400 * 86_400_000]) {
      assert.ok(ticksOf({ from: NOW - length, until: NOW }, count, 0).length <= count + 1, `${count} in ${length}`);
    }
  }
});
