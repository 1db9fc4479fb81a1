import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rememberingLog } from '../../test/support/log.ts';
import { Checks } from '../observe/health/index.ts';
import { clusterReport } from './cluster-report.ts';
import { WatchChecks } from './watch-checks.ts';

const PATH = '/api/v1/services';

function reporting() {
  const { log, lines } = rememberingLog();
  const checks = new Checks();
  const watchChecks = new WatchChecks();
  watchChecks.addTo(checks, { following: () => [{ path: PATH, hasSynced: false, silentMs: undefined }] });
  const report = clusterReport(log, { watchHeard: () => {} }, watchChecks);
  return { report, lines, reason: () => checks.run()[0]?.reason };
}

test('WATCH-15 an object that cannot be used is logged as one of a manifest is, and is no trouble of the watch', () => {
  const { report, lines, reason } = reporting();
  const where = `/api/v1/namespaces/shop/services/web`;
  report.objectUnusable({ where, object: 'Service shop/web', field: 'spec.ports[0].port', message: 'is no port' });
  report.objectUnusable({ where: PATH, object: 'Service', field: 'metadata.name', message: 'is missing' });
  report.objectRecovered(where);
  assert.deepEqual(lines, [
    `W Cannot be used {"where":"${where}","object":"Service shop/web","field":"spec.ports[0].port","reason":"is no port"}`,
    `W Cannot be used {"where":"${PATH}","object":"Service","field":"metadata.name","reason":"is missing"}`,
    `I Is good again {"where":"${where}"}`,
  ]);
  assert.equal(reason(), 'not all objects have come yet');
});

test('WATCH-6 what is waited for is logged and a detail of readiness, until the resource is followed', () => {
  const { report, lines, reason } = reporting();
  report.watchStalled({ where: PATH, message: 'nothing has come for 10 s' });
  assert.equal(reason(), 'not all objects have come yet: nothing has come for 10 s');
  report.watchFailed({ where: PATH, message: 'refused' });
  assert.equal(reason(), 'not all objects have come yet: refused');
  report.watchRecovered(PATH);
  assert.equal(reason(), 'not all objects have come yet');
  assert.deepEqual(lines, [
    `W Waiting for objects {"where":"${PATH}","reason":"nothing has come for 10 s"}`,
    `E Failed to follow {"err":"refused","where":"${PATH}"}`,
    `I Is followed again {"where":"${PATH}"}`,
  ]);
});
