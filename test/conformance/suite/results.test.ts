import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readResults } from './results.ts';

const JUNIT = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="5"><testsuite name="Kubernetes e2e suite">
  <testcase name="[ReportBeforeSuite]" classname="s" status="passed" time="1"></testcase>
  <testcase name="[It] [sig-network] Services should be &quot;good&quot; &amp; quick" classname="s" status="passed" time="12.5">
    <system-err>log &lt;testcase name=&#34;[It] no test&#34;/&gt;</system-err>
  </testcase>
  <testcase name="[It] other area" classname="s" status="skipped" time="0"><skipped message="skipped"></skipped></testcase>
  <testcase name="[It] needs zones" classname="s" status="skipped" time="0.3">
    <skipped message="skipped - need at least 3 zones&#xA;at line 5"></skipped>
  </testcase>
  <testcase name="[It] broken" classname="s" status="failed" time="60">
    <failure message="no answer&#xA;Expected" type="failed">text</failure>
  </testcase>
  <testcase name="[It] lost" classname="s" status="timedout" time="7200"/>
</testsuite></testsuites>`;

describe('the results of a run', () => {
  test('CONFORM-3 each test that was selected has a state, a time and the first line of a reason', () => {
    assert.deepEqual(
      [...readResults(JUNIT)],
      [
        ['[sig-network] Services should be "good" & quick', { state: 'pass', seconds: 12.5, reason: '' }],
        ['needs zones', { state: 'skip', seconds: 0.3, reason: 'skipped - need at least 3 zones' }],
        ['broken', { state: 'fail', seconds: 60, reason: 'no answer' }],
        ['lost', { state: 'fail', seconds: 7200, reason: '' }],
      ],
    );
  });

  test('CONFORM-3 a file without tests has no results', () => {
    assert.equal(readResults('<testsuites></testsuites>').size, 0);
  });
});
