import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Checks } from '../observe/health/index.ts';
import { WatchChecks } from './watch-checks.ts';

const PATH = '/api/v1/services';

test('HEALTH-6 a watch is checked by whether all objects have come, with its age and what is wrong with it', () => {
  let following = { path: PATH, hasSynced: false, silentMs: undefined as number | undefined };
  const checks = new Checks();
  const watches = new WatchChecks();
  watches.addTo(checks, { following: () => [following] });
  const outcome = () => {
    const [result] = checks.run();
    return [result?.name, result?.reason, result?.note];
  };
  const name = `watch ${PATH}`;
  assert.deepEqual(outcome(), [name, 'not all objects have come yet', undefined]);
  watches.problem(PATH, 'refused');
  assert.deepEqual(outcome(), [name, 'not all objects have come yet: refused', undefined]);
  following = { path: PATH, hasSynced: true, silentMs: 61_499 };
  assert.deepEqual(outcome(), [name, undefined, 'last heard of 61 s ago; refused']);
  watches.recovered(PATH);
  assert.deepEqual(outcome(), [name, undefined, 'last heard of 61 s ago']);
});
