import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { FailureReporter } from './failure-reporter.ts';

test('USER-19 the same failure is reported at most every 10 s, with the number of failures in between', async () => {
  const clock = new ManualClock();
  const reports: string[] = [];
  const reporter = new FailureReporter(clock, (action, error) => reports.push(`${action}: ${error}`));
  for (let i = 0; i < 4; i++) reporter.report('proxy a connection to a', `failure ${i}`);
  reporter.report('proxy a connection to b', 'refused');
  assert.deepEqual(reports, ['proxy a connection to a: failure 0', 'proxy a connection to b: refused']);
  await clock.advance(10_000);
  reporter.report('proxy a connection to a', 'failure 4');
  assert.equal(reports.at(-1), 'proxy a connection to a (3 more times since the last report): failure 4');
  await clock.advance(10_000);
  reporter.report('proxy a connection to a', 'failure 5');
  assert.equal(reports.at(-1), 'proxy a connection to a: failure 5');
});
