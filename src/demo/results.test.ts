import assert from 'node:assert/strict';
import { test } from 'node:test';
import { demoContext, demoRows } from '../../test/support/demo-rows.ts';
import { service, slice } from '../../test/support/objects.ts';
import type { Observation } from './observation.ts';
import { Results } from './results.ts';
import type { Row } from './rows.ts';

const objects = [service('s'), slice('s-1', ['10.244.1.11'])];

/** The endpoint answered this often, and some tries failed. */
function answers(count: number, ...failures: string[]): Observation {
  const answered = new Map([['10.244.1.11:8080', { count, seenAs: new Set(['itself']) }]]);
  return { answers: count > 0 ? answered : new Map(), failures: new Set(failures) };
}

function setUp() {
  const [row] = demoRows(objects);
  assert.ok(row);
  const results = new Results(demoContext);
  results.update([row]);
  const pod = () => results.rows[0]?.cells.find(({ place }) => place === 'pod');
  return { results, row, pod };
}

test('DEMO-4 observations stay as long as the plan stays', () => {
  const { results, row, pod } = setUp();
  results.record(row, 'pod', answers(3));
  const same: Row = { ...row, port: { ...row.port } };
  results.update([same]);
  assert.equal(pod()?.observed?.answers.get('10.244.1.11:8080')?.count, 3);
});

test('DEMO-4 observations of the plan before do not count, not even those that come late', () => {
  const { results, row, pod } = setUp();
  results.record(row, 'pod', answers(3));
  const [changed] = demoRows([service('s'), slice('s-1', ['10.244.1.11', '10.244.2.10'])]);
  assert.ok(changed);
  results.update([changed]);
  assert.equal(pod()?.observed, undefined);
  results.record(row, 'pod', answers(3));
  assert.equal(pod()?.observed, undefined);
});

test('DEMO-4 only the last ten rounds count, so an old failure disappears', () => {
  const { results, row, pod } = setUp();
  results.record(row, 'pod', answers(0, 'silent'));
  for (let i = 0; i < 9; i++) results.record(row, 'pod', answers(2));
  assert.equal(pod()?.mismatch, '10.244.1.11:8080 should answer');
  results.record(row, 'pod', answers(2));
  assert.equal(pod()?.mismatch, undefined);
  assert.equal(pod()?.observed?.answers.get('10.244.1.11:8080')?.count, 20);
});
