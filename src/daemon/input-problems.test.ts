import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rememberingLog } from '../../test/support/log.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { createMetrics, reader } from '../../test/support/metrics.ts';
import { service } from '../../test/support/objects.ts';
import { Checks } from '../observe/health/index.ts';
import { InputProblems } from './input-problems.ts';

function open() {
  const { log, lines } = rememberingLog();
  const checks = new Checks();
  const metrics = createMetrics(false, new ManualClock());
  return { input: new InputProblems(log, metrics, checks), lines, metrics, result: () => checks.run()[0] };
}

const WHERE = '/api/v1/namespaces/shop/services/web';
const UNUSABLE = {
  where: WHERE,
  kind: 'Service',
  object: 'Service shop/web',
  field: 'spec.ports[0].port',
  message: 'is no port',
};

test('WATCH-15 an object that cannot be used is logged, counted and listed until it is good again', async () => {
  const { input, lines, metrics, result } = open();
  try {
    assert.deepEqual(result(), { name: 'input', isReady: true });
    input.add(UNUSABLE);
    assert.deepEqual(result(), { name: 'input', isReady: true, note: '1 problem', problems: [UNUSABLE] });
    const value = await reader(metrics);
    assert.equal(value('pointsman_input_problems_total', { kind: 'Service', reason: 'invalid' }), 1);
    assert.equal(value('pointsman_input_problems_total', { kind: 'Node', reason: 'internal' }), 0);
    assert.equal(value('pointsman_input_problems'), 1);
    input.recovered(WHERE);
    assert.deepEqual(result(), { name: 'input', isReady: true });
    assert.equal((await reader(metrics))('pointsman_input_problems'), 0);
    assert.deepEqual(lines, [
      `W Input cannot be used {"where":"${WHERE}","object":"Service shop/web","field":"spec.ports[0].port","reason":"is no port"}`,
      `I Problem with the input is over {"where":"${WHERE}"}`,
    ]);
  } finally {
    metrics.close();
  }
});

test('WATCH-15 a part of an object that is left out is listed until the object changes', () => {
  const { input, result, metrics } = open();
  const left = { kind: 'Service', object: 'Service default/web', field: 'spec.clusterIP', message: 'is no address' };
  input.add(left);
  input.objectChanged(service('other'));
  assert.deepEqual(result()?.problems, [left]);
  input.objectChanged(service('web'));
  assert.equal(result()?.problems, undefined);
  metrics.close();
});

test('WATCH-15 an object that the proxy failed to process is listed until the object changes', () => {
  const { input, result, metrics } = open();
  input.add({ where: WHERE, kind: 'Service', object: 'Service default/web', reason: 'internal', message: 'no room' });
  assert.equal(result()?.problems?.length, 1);
  input.objectChanged(service('web'));
  assert.equal(result()?.problems, undefined);
  metrics.close();
});

test('WATCH-15 a file has one line in the list, and is gone from it when the file is good', () => {
  const { input, result, metrics } = open();
  input.add({ where: 'web.yaml:3:1', object: 'Service default/a', message: 'first' });
  input.add({ where: 'web.yaml:9:1', object: 'Service default/b', message: 'last' });
  assert.deepEqual(
    result()?.problems?.map(({ message }) => message),
    ['last'],
  );
  input.recovered('web.yaml');
  assert.equal(result()?.problems, undefined);
  metrics.close();
});

test('WATCH-15 a conflict between Services is counted and not listed, because no event says when it ends', async () => {
  const { input, result, metrics } = open();
  input.add({ kind: 'Service', reason: 'conflict', object: 'Service default/web', message: 'belongs to another' });
  assert.equal(result()?.problems, undefined);
  assert.equal((await reader(metrics))('pointsman_input_problems_total', { kind: 'Service', reason: 'conflict' }), 1);
  metrics.close();
});
