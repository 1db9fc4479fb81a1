import assert from 'node:assert/strict';
import { test } from 'node:test';
import { observation } from '../../test/support/demo-results.ts';
import { demoContext, demoRows } from '../../test/support/demo-rows.ts';
import { service, slice } from '../../test/support/objects.ts';
import { observedConnections } from './observed-connections.ts';
import { Results } from './results.ts';

test('DEMO-12 the page gets each endpoint that answered and each failure, and whether that is as planned', () => {
  const rows = demoRows([service('web', { clusterIP: '10.96.0.10' }), slice('web-1', ['10.244.1.11', '10.244.2.10'])]);
  const [row] = rows;
  assert.ok(row);
  const question = { row, place: 'pod' } as const;
  const [first = '', second = ''] = row.port.used;
  const results = new Results(demoContext);
  results.update(rows);
  const good = observation(`${first} 6`, `${second} 4`);
  const common = { service: 'default/web', from: 'pod', to: '10.96.0.10:80', protocol: 'TCP' };
  assert.deepEqual(observedConnections(question, good, results.isAsPlanned(question, good)), [
    { ...common, isAsPlanned: true, endpoint: first, seenAs: 'itself', count: 6 },
    { ...common, isAsPlanned: true, endpoint: second, seenAs: 'itself', count: 4 },
  ]);
  const refused = observation('refused');
  assert.deepEqual(observedConnections(question, refused, results.isAsPlanned(question, refused)), [
    { ...common, isAsPlanned: false, failure: 'refused', count: 1 },
  ]);
  assert.deepEqual(observedConnections({ ...question, row: { ...row, ip: undefined } }, good, true), []);
});
