import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FlowEvent, L4, Status } from '../kernel/conntrack/index.ts';
import type { Ip } from '../net/index.ts';
import { ANSWER_TIMEOUT_MS, Attempts } from './attempts.ts';

const KEY = '6 10.244.1.1:8080';

function event(type: FlowEvent['type'], id: number, status = 0, protocol: number = L4.TCP): FlowEvent {
  const original = { src: '10.0.0.1' as Ip, dst: '10.96.0.1' as Ip, srcPort: 1000, dstPort: 80 };
  const reply = { src: '10.244.1.1' as Ip, dst: '10.0.0.1' as Ip, srcPort: 8080, dstPort: 1000 };
  return { type, flow: { family: 'IPv4', protocol, original, reply, id, status } };
}

function setUp() {
  const seen: string[] = [];
  const attempts = new Attempts({
    succeeded: key => seen.push(`${key} succeeded`),
    failed: (key, cause) => seen.push(`${key} ${cause}`),
  });
  const follow = (followed: FlowEvent, now = 0) => attempts.event(followed, key => key === KEY, now);
  return { seen, attempts, follow };
}

test('BALANCE-70 an attempt succeeds with the first answer', () => {
  const { seen, attempts, follow } = setUp();
  follow(event('new', 1));
  follow(event('updated', 1));
  assert.deepEqual(seen, []);
  follow(event('updated', 1, Status.SEEN_REPLY));
  follow(event('updated', 1, Status.SEEN_REPLY));
  follow(event('destroyed', 1, Status.SEEN_REPLY));
  assert.deepEqual([seen, attempts.isWaiting], [[`${KEY} succeeded`], false]);
});

test('BALANCE-70 an attempt that the kernel forgets without an answer was refused', () => {
  const { seen, follow } = setUp();
  follow(event('new', 1));
  follow(event('destroyed', 1));
  assert.deepEqual(seen, [`${KEY} refused`]);
});

test('BALANCE-70 an attempt without an answer times out', () => {
  const { seen, attempts, follow } = setUp();
  follow(event('new', 1), 0);
  follow(event('new', 2), 1);
  attempts.expire(ANSWER_TIMEOUT_MS - 1);
  assert.deepEqual(seen, []);
  attempts.expire(ANSWER_TIMEOUT_MS);
  assert.deepEqual([seen, attempts.isWaiting], [[`${KEY} timed out`], true]);
  follow(event('destroyed', 1), ANSWER_TIMEOUT_MS);
  assert.equal(seen.length, 1, 'it failed once');
});

test('BALANCE-70 other protocols and endpoints do not count, and dropped events count as nothing', () => {
  const { seen, attempts, follow } = setUp();
  follow(event('new', 1, 0, L4.UDP));
  attempts.event(event('new', 2), () => false, 0);
  follow(event('destroyed', 3));
  follow(event('new', 4));
  attempts.clear();
  follow(event('destroyed', 4));
  attempts.expire(10 * ANSWER_TIMEOUT_MS);
  assert.deepEqual([seen, attempts.isWaiting], [[], false]);
});
