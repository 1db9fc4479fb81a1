// A reporter for node:test that counts. It writes one JSON object, `{"passed":1,"failed":0,"skipped":0,"failures":[]}`,
// when all tests have ended. `failures` has the name and the error of each failed test. A process that crashes writes
// nothing.

/** @param {AsyncIterable<import('node:test/reporters').TestEvent>} events */
export default async function* countTests(events) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  /** @type {string[]} */
  const failures = [];
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.details.type === 'suite') continue;
    if (data.skip !== undefined || data.todo !== undefined) counts.skipped += 1;
    else if (type === 'test:pass') counts.passed += 1;
    else {
      counts.failed += 1;
      failures.push(`${data.name}\n${errorText(data.details.error)}`);
    }
  }
  yield JSON.stringify({ ...counts, failures });
}

/**
 * The stack of what the test threw. node:test puts that into the `cause` of its own error.
 * @param {Error & { readonly cause?: unknown }} error
 */
function errorText(error) {
  const cause = error.cause ?? error;
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
