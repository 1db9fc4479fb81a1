import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CurrentProblems } from './current-problems.ts';

test('the list of problems is the same one until a problem comes, changes or goes', () => {
  const problems = new CurrentProblems();
  const none = problems.all;
  problems.clear('Service default/web');
  assert.equal(problems.all, none);
  problems.add({ object: 'Service default/web', message: 'is wrong' });
  const one = problems.all;
  assert.deepEqual([none.length, one.length], [0, 1]);
  assert.equal(problems.all, one);
  problems.add({ object: 'Service default/web', message: 'is still wrong' });
  assert.notEqual(problems.all, one);
  problems.clear('Service default/web');
  assert.deepEqual(problems.all, []);
});
