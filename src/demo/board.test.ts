import assert from 'node:assert/strict';
import { test } from 'node:test';
import { demoRows } from '../../test/support/demo-rows.ts';
import { service, slice } from '../../test/support/objects.ts';
import { Board } from './board.ts';
import type { Observation } from './observation.ts';
import type { Row } from './rows.ts';

const objects = [service('s'), slice('s-1', ['10.244.1.11'])];

function answers(count: number, ...failures: string[]): Observation {
  const by = new Map([['10.244.1.11:8080', { count, seenAs: new Set(['itself']) }]]);
  return { answers: count > 0 ? by : new Map(), failures: new Set(failures) };
}

function setUp() {
  const [row] = demoRows(objects);
  assert.ok(row);
  const board = new Board();
  board.update([row]);
  const pod = () => board.rows[0]?.cells.find(({ place }) => place === 'pod');
  return { board, row, pod };
}

test('DEMO-4 what was seen is kept as long as the plan stays', () => {
  const { board, row, pod } = setUp();
  board.record(row, 'pod', answers(3));
  const same: Row = { ...row, port: { ...row.port } };
  board.update([same]);
  assert.equal(pod()?.seen?.answers.get('10.244.1.11:8080')?.count, 3);
});

test('DEMO-4 what was seen before the plan changed is forgotten, and what comes too late for it ignored', () => {
  const { board, row, pod } = setUp();
  board.record(row, 'pod', answers(3));
  const [changed] = demoRows([service('s'), slice('s-1', ['10.244.1.11', '10.244.2.10'])]);
  assert.ok(changed);
  board.update([changed]);
  assert.equal(pod()?.seen, undefined);
  board.record(row, 'pod', answers(3));
  assert.equal(pod()?.seen, undefined);
});

test('DEMO-4 only the last ten rounds count, so that a failure passes', () => {
  const { board, row, pod } = setUp();
  board.record(row, 'pod', answers(0, 'silent'));
  for (let i = 0; i < 9; i++) board.record(row, 'pod', answers(2));
  assert.equal(pod()?.disagreement, '10.244.1.11:8080 should answer');
  board.record(row, 'pod', answers(2));
  assert.equal(pod()?.disagreement, undefined);
  assert.equal(pod()?.seen?.answers.get('10.244.1.11:8080')?.count, 20);
});
