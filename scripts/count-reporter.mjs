// A reporter for node:test that counts. It writes one JSON object, `{"passed":1,"failed":0,"skipped":0}`, when all
// tests have ended. A process that crashes writes nothing.

/** @param {AsyncIterable<import('node:test/reporters').TestEvent>} events */
export default async function* countTests(events) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.details.type === 'suite') continue;
    if (data.skip !== undefined || data.todo !== undefined) counts.skipped += 1;
    else if (type === 'test:pass') counts.passed += 1;
    else counts.failed += 1;
  }
  yield JSON.stringify(counts);
}
