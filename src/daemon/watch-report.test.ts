import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rememberingLog } from '../../test/support/log.ts';
import { History } from '../history/index.ts';
import { Checks } from '../observe/health/index.ts';
import type { Logger } from '../observe/logging/index.ts';
import { InputProblems } from './input-problems.ts';
import { WatchChecks, watchReporter, watchSilenceMs } from './watch-report.ts';

const PATH = '/api/v1/services';
const MISSING = { name: `watch ${PATH}`, isReady: false, note: 'the API server has not sent all objects yet' };

function inputOf(log: Logger): InputProblems {
  return new InputProblems(log, { inputProblem: () => {}, readInputProblems: () => {} }, new Checks());
}

function openReport() {
  const { log, lines } = rememberingLog();
  const checks = new Checks();
  const history = new History();
  const watchChecks = new WatchChecks();
  watchChecks.addTo(checks, { following: () => [{ path: PATH, hasSynced: false, silentMs: undefined }] });
  const report = watchReporter(log, { watchMessage: () => {} }, watchChecks, inputOf(log), history);
  return { report, lines, history, result: () => checks.run()[0] };
}

test('WATCH-15 an object that cannot be used is logged as one of a manifest is, and is not a problem of the watch', () => {
  const { report, lines, result } = openReport();
  const where = `/api/v1/namespaces/shop/services/web`;
  report.objectUnusable({ where, object: 'Service shop/web', field: 'spec.ports[0].port', message: 'is no port' });
  report.objectUnusable({ where: PATH, object: 'Service', field: 'metadata.name', message: 'is missing' });
  report.objectRecovered(where);
  assert.deepEqual(lines, [
    `W Input cannot be used {"where":"${where}","object":"Service shop/web","field":"spec.ports[0].port","reason":"is no port"}`,
    `W Input cannot be used {"where":"${PATH}","object":"Service","field":"metadata.name","reason":"is missing"}`,
    `I Problem with the input is over {"where":"${where}"}`,
  ]);
  assert.deepEqual(result(), { ...MISSING, problems: [] });
});

test('WATCH-6 a list that does not come is in the log and in the readiness check, until the resource is watched', () => {
  const { report, lines, result } = openReport();
  const silent = { where: PATH, message: 'nothing has come for 10 s' };
  report.watchStalled(silent);
  assert.deepEqual(result(), { ...MISSING, problems: [silent] });
  const refused = { where: PATH, message: 'refused' };
  report.watchFailed(refused);
  assert.deepEqual(result(), { ...MISSING, problems: [refused] });
  report.watchRecovered(PATH);
  assert.deepEqual(result(), { ...MISSING, problems: [] });
  assert.deepEqual(lines, [
    `W Waiting for objects {"where":"${PATH}","reason":"nothing has come for 10 s"}`,
    `E Could not watch a resource; retrying {"err":"refused","where":"${PATH}"}`,
    `I The resource is watched again {"where":"${PATH}"}`,
  ]);
});

test('HISTORY-8 the history has watches that fail and recover, and objects that cannot be used', () => {
  const { report, history } = openReport();
  report.watchFailed({ where: PATH, message: 'refused' });
  report.watchFailed({ where: PATH, message: 'refused' });
  report.watchRecovered(PATH);
  report.watchRecovered(PATH);
  report.objectUnusable({ where: 'x', object: 'Service shop/web', field: 'spec.ports[0].port', message: 'is no port' });
  report.objectRecovered('x');
  assert.deepEqual(
    history.entries().map(({ kind, object, change, count }) => [kind, object, change, count]),
    [
      ['watchFailed', PATH, 'refused', 2],
      ['watchRecovered', PATH, 'watched again', 1],
      ['problem', 'Service shop/web', 'spec.ports[0].port is no port', 1],
      ['recovered', 'x', 'the problem with the input is over', 1],
    ],
  );
});

test('WATCH-18 an optional resource that cannot be read is a warning, and its check is ready and says so', () => {
  const { log, lines } = rememberingLog();
  const checks = new Checks();
  const watchChecks = new WatchChecks();
  watchChecks.addTo(checks, { following: () => [{ path: PATH, hasSynced: true, silentMs: undefined }] });
  const report = watchReporter(log, { watchMessage: () => {} }, watchChecks, inputOf(log), new History());
  const problem = { where: PATH, message: 'forbidden' };
  report.optionalUnavailable(problem);
  assert.deepEqual(lines, [
    `W Could not read an optional resource; the proxy works without it {"where":"${PATH}","reason":"forbidden"}`,
  ]);
  const note = 'optional, and not read yet';
  assert.deepEqual(checks.run(), [{ name: `watch ${PATH}`, isReady: true, note, problems: [problem] }]);
});

test('HEALTH-6 a watch is ready once it has all objects, and its check shows its age and its problem', () => {
  let following = { path: PATH, hasSynced: false, silentMs: undefined as number | undefined };
  const checks = new Checks();
  const watches = new WatchChecks();
  watches.addTo(checks, { following: () => [following] });
  const name = `watch ${PATH}`;
  const problem = { where: PATH, message: 'refused' };
  assert.deepEqual(checks.run(), [{ ...MISSING, problems: [] }]);
  watches.setProblem(PATH, problem);
  assert.deepEqual(checks.run(), [{ ...MISSING, problems: [problem] }]);
  following = { path: PATH, hasSynced: true, silentMs: 61_499 };
  const note = 'last message 61 s ago';
  assert.deepEqual(checks.run(), [{ name, isReady: true, note, problems: [problem] }]);
  watches.clearProblem(PATH);
  assert.deepEqual(checks.run(), [{ name, isReady: true, note, problems: [] }]);
});

test('WATCH-20 from 90 s of silence on, the check of a watch says so, and the proxy stays ready', () => {
  let silentMs = 89_000;
  const checks = new Checks();
  new WatchChecks().addTo(checks, { following: () => [{ path: PATH, hasSynced: true, silentMs }] });
  const note = () => `${checks.run()[0]?.isReady} ${checks.run()[0]?.note}`;
  assert.equal(note(), 'true last message 89 s ago');
  silentMs = 90_000;
  assert.equal(note(), 'true the watch is silent: last message 90 s ago');
});

test('WATCH-20 the environment can set how long a watch may be silent', () => {
  const { log, lines } = rememberingLog();
  const values = ['20', '', '0', '1.5', 'soon', undefined].map(value =>
    watchSilenceMs(value === undefined ? {} : { WATCH_SILENCE_TIMEOUT_SECONDS: value }, log),
  );
  assert.deepEqual(values, [20_000, undefined, undefined, undefined, undefined, undefined]);
  assert.equal(lines.length, 3);
});
