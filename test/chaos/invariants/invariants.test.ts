import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeHeldConnection } from './established.ts';
import { judgeEndState, sortedByChain } from './fresh-start.ts';
import { judgeHealth } from './health.ts';
import { judgeLeftovers } from './leftovers.ts';
import { judgeEnd } from './process.ts';
import { wrongLooks } from './recovery.ts';
import { judgeUsage, MAX_DESCRIPTORS, MAX_RESIDENT_MB } from './resources.ts';

test('CHAOS-6 an established connection that is lost violates an invariant', () => {
  assert.equal(judgeHeldConnection('node', 'ready'), undefined);
  assert.deepEqual(judgeHeldConnection('node', 'lost 10.96.0.1:80 read ECONNRESET'), {
    invariant: 'established connections live',
    facts: 'node: lost 10.96.0.1:80 read ECONNRESET',
  });
});

test('CHAOS-7 the proxy has recovered when every address gets what the API server has', () => {
  const attempt = (answer: string | undefined) => ({
    client: 'look',
    address: 'x',
    begin: 0,
    end: 0,
    answer,
    failure: 'refused',
  });
  const look = (expected: readonly string[], ...answers: readonly (string | undefined)[]) => ({
    address: 'x',
    expected: new Set(expected),
    attempts: answers.map(attempt),
  });
  assert.deepEqual(wrongLooks([look(['a', 'b'], 'a', 'b', 'a'), look([], undefined)]), []);
  assert.deepEqual(wrongLooks([look(['a'], 'a', 'c')]), ['x: c instead of {a}']);
  assert.deepEqual(wrongLooks([look(['a'], undefined)]), ['x: refused instead of {a}']);
  assert.deepEqual(wrongLooks([look([], 'a')]), ['x: a instead of {}']);
});

test('CHAOS-8 other rules than after a fresh start violate an invariant, and the lines are named', () => {
  assert.equal(judgeEndState('a\nb', 'a\nb'), undefined);
  const { facts = '' } = judgeEndState('a\nold\nb', 'a\nb\nnew') ?? {};
  assert.match(facts, /1 lines more:\n +old\n +1 lines missing:\n +new\n/);
  assert.match(facts, /the first difference: old\n +a fresh start has: b/);
});

test('CHAOS-8 the order of chains does not count, the order of rules in a chain does', () => {
  const one = sortedByChain('*nat\n:B - [0:0]\n:A - [0:0]\n-A B -j A\n-A A -j ONE\n-A A -j TWO\nCOMMIT');
  const same = sortedByChain('*nat\n:A - [0:0]\n:B - [0:0]\n-A A -j ONE\n-A A -j TWO\n-A B -j A\nCOMMIT');
  const other = sortedByChain('*nat\n:A - [0:0]\n:B - [0:0]\n-A A -j TWO\n-A A -j ONE\n-A B -j A\nCOMMIT');
  assert.equal(one, same);
  assert.notEqual(one, other);
});

test('CHAOS-8 the order of service ports in a chain that leads to them does not count', () => {
  const web = '-A KUBE-NODEPORTS -m comment --comment "default/web:http" -j WEB';
  const api = '-A KUBE-NODEPORTS -m comment --comment "default/api:http" -j API';
  const last = '-A KUBE-NODEPORTS -j LAST';
  assert.equal(sortedByChain(`*nat\n${web}\n${api}\n${last}`), sortedByChain(`*nat\n${api}\n${web}\n${last}`));
  const twice = (first: string, second: string) => sortedByChain(`*nat\n${web} ${first}\n${web} ${second}`);
  assert.notEqual(twice('1', '2'), twice('2', '1'));
});

test('CHAOS-9 memory and descriptors have bounds', () => {
  assert.deepEqual(judgeUsage({ residentMB: MAX_RESIDENT_MB, descriptors: MAX_DESCRIPTORS }), []);
  const violated = judgeUsage({ residentMB: MAX_RESIDENT_MB + 1, descriptors: MAX_DESCRIPTORS + 1 });
  assert.deepEqual(
    violated.map(({ invariant }) => invariant),
    ['memory is bounded', 'descriptors are bounded'],
  );
});

const WATCHES = '[+]watch /api/v1/services ok: last message 3 s ago\nok';
const NOTHING_KNOWN = { isRunning: false, isRecovered: false, isMisconfigured: false, isCutOff: false };

test('CHAOS-10 a proxy that runs is alive, and one that has recovered is healthy and ready', () => {
  const good = { livez: 200, healthz: 200, readyz: 200, text: WATCHES };
  const bad = { livez: undefined, healthz: 503, readyz: 503, text: 'not ready' };
  const known = { ...NOTHING_KNOWN, isRunning: true, isRecovered: true };
  assert.deepEqual(judgeHealth(good, known), []);
  assert.equal(judgeHealth(bad, known).length, 4);
  assert.deepEqual(judgeHealth(bad, NOTHING_KNOWN), []);
});

test('CHAOS-10 a proxy with an invalid configuration file is not ready', () => {
  const known = { ...NOTHING_KNOWN, isRunning: true, isMisconfigured: true };
  assert.deepEqual(judgeHealth({ livez: 200, healthz: 200, readyz: 503, text: WATCHES }, known), []);
  assert.equal(judgeHealth({ livez: 200, healthz: 200, readyz: 200, text: WATCHES }, known).length, 1);
});

test('CHAOS-10 without an API server the proxy is ready and names the problem', () => {
  const known = { ...NOTHING_KNOWN, isRunning: true, isCutOff: true };
  const text = '[+]watch /api/v1/services ok: last message 3 s ago: the API server refused the connection\nok';
  assert.deepEqual(judgeHealth({ livez: 200, healthz: 200, readyz: 200, text }, known), []);
  assert.equal(judgeHealth({ livez: 200, healthz: 200, readyz: 200, text: WATCHES }, known).length, 1);
});

test('CHAOS-11 the proxy may end only because of a fault', () => {
  assert.equal(judgeEnd({ status: 1, signal: null }, true), undefined);
  assert.equal(judgeEnd({ status: 1, signal: null }, false)?.facts, 'it ended with status 1');
  assert.equal(judgeEnd({ status: null, signal: 'SIGABRT' }, false)?.facts, 'it ended with SIGABRT');
});

test('CHAOS-12 a process, a namespace, a folder or a rule that is left violates an invariant', () => {
  const before = { network: 'n', children: '', namespaces: 1 };
  assert.deepEqual(judgeLeftovers(before, before, ['/no/such/folder']), []);
  assert.equal(judgeLeftovers(before, { network: 'm', children: '7', namespaces: 2 }, ['/']).length, 4);
});
