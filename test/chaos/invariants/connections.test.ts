import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseAttempt } from '../world/clients.ts';
import { Impairments } from '../world/impairments.ts';
import { Ledger } from '../world/ledger.ts';
import { type Attempt, judgeAttempt } from './connections.ts';

const ADDRESS = '10.96.0.1:80';
const A = '10.244.1.1:8101';
const B = '10.244.1.2:8101';

/** The address leads to A from 10 s on, to B from 20 s on, and to nothing from 30 s on. */
function ledger(): Ledger {
  const made = new Ledger();
  made.change(ADDRESS, [A], 10_000, 10_010);
  made.change(ADDRESS, [B], 20_000, 20_010);
  made.change(ADDRESS, [], 30_000, 30_010);
  return made;
}

function at(begin: number, answer: string | undefined): Attempt {
  return { client: 'node', address: ADDRESS, begin, end: begin + 5, answer, failure: 'refused' };
}

function isViolated(attempt: Attempt, impairments = new Impairments()): boolean {
  return judgeAttempt(attempt, ledger(), impairments) !== undefined;
}

describe('CHAOS-4 a connection gets what the API server had in the last second', () => {
  test('CHAOS-4 the endpoint of now may answer, and an endpoint that never was one may not', () => {
    assert.equal(isViolated(at(15_000, A)), false);
    assert.equal(isViolated(at(15_000, B)), true);
    assert.equal(isViolated(at(15_000, '10.244.1.1:8102')), true);
  });

  test('CHAOS-4 a former endpoint may answer for one second', () => {
    assert.equal(isViolated(at(20_900, A)), false);
    assert.equal(isViolated(at(21_100, A)), true);
  });

  test('CHAOS-4 the time in which the proxy waited for a processor does not count', () => {
    const starved = (ms: number) => judgeAttempt(at(21_500, A), ledger(), new Impairments(), () => ms);
    assert.equal(starved(600), undefined);
    assert.notEqual(starved(400), undefined);
  });

  test('CHAOS-4 a connection may fail only if the Service had no endpoint in the last second', () => {
    assert.equal(isViolated(at(15_000, undefined)), true);
    assert.equal(isViolated(at(10_500, undefined)), false);
    assert.equal(isViolated(at(30_500, undefined)), false);
    assert.equal(isViolated(at(40_000, undefined)), false);
    assert.equal(isViolated(at(31_500, B)), true);
  });
});

describe('CHAOS-5 an impairment excuses what was true before it', () => {
  test('CHAOS-5 a proxy that cannot know the change may lead to the former endpoint', () => {
    const impairments = new Impairments();
    impairments.begin(['knowledge'], 19_000);
    assert.equal(isViolated(at(25_000, A), impairments), false);
    impairments.endAll(26_000);
    assert.equal(isViolated(at(26_500, A), impairments), false);
    assert.equal(isViolated(at(27_500, A), impairments), true);
  });

  test('CHAOS-5 the proxy may also lack what changed a moment before the impairment began, on a busy machine, too', () => {
    const impairments = new Impairments();
    impairments.begin(['knowledge'], 20_500);
    const judge = (waitedMs: number) => judgeAttempt(at(23_000, A), ledger(), impairments, () => waitedMs);
    assert.equal(judge(0), undefined);
    assert.equal(judge(1800), undefined);
  });

  test('CHAOS-5 a Service may have its endpoints of another moment only while the proxy is impaired', () => {
    const made = new Ledger();
    const [former, other] = ['10.244.1.3:8102', '10.244.1.4:8103'];
    made.changeSlice(8102, [former], 5000, 5010);
    made.changeSlice(8103, [other], 5000, 5010);
    made.changeSlice(8102, [], 20_000, 20_010);
    made.change(ADDRESS, [A], 10_000, 10_010, 8101);
    made.change(ADDRESS, [], 21_000, 21_010, 8102);
    const impairments = new Impairments();
    impairments.begin(['knowledge'], 19_000);
    assert.equal(judgeAttempt(at(25_000, former), made, impairments), undefined);
    assert.notEqual(judgeAttempt(at(25_000, former), made, new Impairments()), undefined);
    assert.notEqual(judgeAttempt(at(25_000, other), made, impairments), undefined, 'another Service');
  });

  test('CHAOS-5 lack of knowledge is no reason for a failed connection or a wrong Service', () => {
    const impairments = new Impairments();
    impairments.begin(['knowledge'], 19_000);
    assert.equal(isViolated(at(25_000, undefined), impairments), true);
    assert.equal(isViolated(at(25_000, '10.244.1.1:8102'), impairments), true);
  });

  test('CHAOS-5 while another program damages the rules, connections may fail', () => {
    const impairments = new Impairments();
    impairments.begin(['rules'], 19_000);
    assert.equal(isViolated(at(25_000, undefined), impairments), false);
    assert.equal(isViolated(at(25_000, '10.244.1.1:8102'), impairments), true);
  });

  test('CHAOS-5 impairments that overlap are one; after a recovery a new one begins', () => {
    const overlapping = new Impairments();
    overlapping.begin(['knowledge'], 19_000);
    overlapping.begin(['knowledge'], 22_500);
    assert.equal(isViolated(at(23_400, A), overlapping), false);
    const separate = new Impairments();
    separate.begin(['knowledge'], 19_000);
    separate.endAll(22_000);
    separate.begin(['knowledge'], 22_500);
    assert.equal(isViolated(at(23_600, A), separate), true);
  });
});

test('CHAOS-3 a line of a client is read as an attempt', () => {
  assert.deepEqual(parseAttempt('ext', `1000 1005 ${ADDRESS} ${A}`), {
    client: 'ext',
    address: ADDRESS,
    begin: 1000,
    end: 1005,
    answer: A,
    failure: '',
  });
  assert.equal(parseAttempt('ext', `1000 1005 ${ADDRESS} !connect ECONNREFUSED`)?.failure, 'connect ECONNREFUSED');
  assert.equal(parseAttempt('ext', 'ready'), undefined);
});

test('CHAOS-14 a violation has the client, the address, the times, and what the API server had', () => {
  const { facts = '' } = judgeAttempt(at(15_000, B), ledger(), new Impairments()) ?? {};
  assert.match(facts, /^node to 10\.96\.0\.1:80 was answered by 10\.244\.1\.2:8101, 00:00:15\.000–00:00:15\.005; /);
  assert.match(facts, /the API server had 00:00:10\.000–00:00:20\.010 \{10\.244\.1\.1:8101\}/);
});
