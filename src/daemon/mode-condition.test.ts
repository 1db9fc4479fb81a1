import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionNote } from '../inspect/index.ts';
import type { ModeCondition } from '../modes/index.ts';
import { Logging } from '../observe/logging/index.ts';
import { ConditionReport } from './mode-condition.ts';

const SERVING: ModeCondition = { name: 'sockets', isServing: true, note: '7 service ports' };
const BROKEN: ModeCondition = { name: 'sockets', isServing: false, note: 'no cgroup2' };

function report() {
  const lines: string[] = [];
  const events: ModeCondition[] = [];
  const { log } = new Logging({ stdout: { write: () => 0 }, stderr: { write: line => lines.push(line) } });
  const reporter = new ConditionReport([], { log, changed: condition => events.push(condition) });
  const logged = () => lines.map(line => `${line[0]} ${line.replace(/.*\] /, '').trim()}`);
  return { reporter, events, logged };
}

test('HEALTH-27 the log has each change of the condition once, and numbers in its note are no change', () => {
  const { reporter, events, logged } = report();
  for (const note of ['7 service ports', '8 service ports']) reporter.look({ ...SERVING, note });
  assert.deepEqual(logged(), ['I "Part of the mode serves" part="sockets" note="7 service ports"']);
  assert.deepEqual(events, []);
  for (let i = 0; i < 3; i++) reporter.look(BROKEN);
  reporter.look(undefined);
  reporter.look(SERVING);
  assert.deepEqual(logged().slice(1), [
    'W "Part of the mode does not serve" part="sockets" reason="no cgroup2"',
    'I "Part of the mode serves" part="sockets" note="7 service ports"',
  ]);
  assert.deepEqual(events, [BROKEN, SERVING]);
});

test('HEALTH-27 another reason is a change, and a part that never served has an Event', () => {
  const { reporter, events } = report();
  reporter.look(BROKEN);
  reporter.look({ ...BROKEN, note: 'no memory' });
  assert.deepEqual(
    events.map(({ note }) => note),
    ['no cgroup2', 'no memory'],
  );
});

test('HEALTH-27 the report waits until every family was synced once', () => {
  const events: ModeCondition[] = [];
  const { log } = new Logging({ stdout: { write: () => 0 }, stderr: { write: () => 0 } });
  const reporter = new ConditionReport(['IPv4', 'IPv6'], { log, changed: condition => events.push(condition) });
  reporter.synced('IPv4', BROKEN);
  reporter.look(BROKEN);
  assert.deepEqual(events, []);
  reporter.synced('IPv6', BROKEN);
  assert.deepEqual(events, [BROKEN]);
});

test('HEALTH-27 the note of the check says whether the part serves', () => {
  assert.equal(conditionNote(SERVING), 'serving: 7 service ports');
  assert.equal(conditionNote(BROKEN), 'not serving: no cgroup2');
});
