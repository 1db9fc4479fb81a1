import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestEvent } from 'node:test/reporters';
import countTests from '../scripts/count-reporter.mjs';
import type { Counts } from '../scripts/test-runner.mjs';

const place = { nesting: 0, testNumber: 1 };

function ended(type: 'test:pass' | 'test:fail', data: object = {}, details: object = {}): TestEvent {
  const event = { type, data: { name: 'a test', ...place, details: { duration_ms: 1, ...details }, ...data } };
  return event as TestEvent;
}

async function* eventsOf(...events: readonly TestEvent[]) {
  yield* events;
}

async function count(...events: readonly TestEvent[]): Promise<Counts> {
  let text = '';
  for await (const part of countTests(eventsOf(...events))) text += part;
  return JSON.parse(text);
}

test('the reporter counts tests that passed, failed and were skipped', async () => {
  const counts = await count(
    ended('test:pass'),
    ended('test:pass'),
    ended('test:fail', {}, { error: new Error('1 subtest failed') }),
    ended('test:pass', { skip: true }),
    ended('test:pass', { todo: 'later' }),
  );
  const { failures, ...numbers } = counts;
  assert.deepEqual(numbers, { passed: 2, failed: 1, skipped: 2 });
  assert.equal(failures.length, 1);
});

test('the reporter counts neither suites nor other events', async () => {
  const start: TestEvent = { type: 'test:start', data: { name: 'a test', nesting: 0 } };
  const counts = await count(
    start,
    ended('test:pass', {}, { type: 'suite' }),
    ended('test:fail', {}, { type: 'suite' }),
  );
  assert.deepEqual(counts, { passed: 0, failed: 0, skipped: 0, failures: [] });
});

test('the reporter names each failed test with the error that the test threw', async () => {
  const thrown = new Error('three is not four');
  const { failures } = await count(ended('test:fail', {}, { error: new Error('test failed', { cause: thrown }) }));
  assert.match(failures[0] ?? '', /^a test\nError: three is not four\n/);
});
