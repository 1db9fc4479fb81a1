import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type EventContent, newEvent, nodeReference } from './event.ts';
import { KnownEvents } from './known-events.ts';

const MINUTE = 60_000;

function content(name: string): EventContent {
  return { type: 'Normal', reason: 'Starting', action: 'Start', regarding: nodeReference(name), note: '' };
}

function add(known: KnownEvents, name: string, now: number): void {
  known.add(content(name), newEvent(content(name), { controller: 'kube-proxy', instance: 'a' }, BigInt(now)), now);
}

describe('EVENTS-3 known events', () => {
  test('an Event is new if it occurred six minutes ago, even if nothing has removed it since', () => {
    const known = new KnownEvents();
    add(known, 'a', 0);
    assert.equal(known.countRepeat(content('a'), 6 * MINUTE - 1)?.count, 2);
    assert.equal(known.countRepeat(content('a'), 12 * MINUTE - 1), undefined);
  });

  test('EVENTS-5 at most 500 Events are known, and the oldest is forgotten first', () => {
    const known = new KnownEvents();
    for (let i = 0; i < 500; i++) add(known, `n${i}`, i);
    add(known, 'n0', 6 * MINUTE);
    assert.equal(known.size, 500);
    add(known, 'n500', 6 * MINUTE);
    assert.equal(known.size, 500);
    assert.ok(known.countRepeat(content('n0'), 6 * MINUTE), 'n0 occurred again, so n1 is the oldest');
    assert.equal(known.countRepeat(content('n1'), 2), undefined);
  });
});
