import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addRecord, compare, type Recorded, tableText } from './comparison.ts';
import type { Result, Results, State } from './results.ts';

const RECORDED: Recorded = {
  version: 'v1.36.4',
  modes: { nftables: { a: 'pass', b: 'fail', c: 'skip' }, iptables: { a: 'pass', b: 'pass' } },
};

function results(states: Readonly<Record<string, State>>): Results {
  const result = (state: State): Result => ({ state, seconds: 1, reason: state === 'pass' ? '' : `why ${state}` });
  return new Map(Object.entries(states).map(([name, state]) => [name, result(state)]));
}

function worse(states: Readonly<Record<string, State>>, mode: 'nftables' | 'iptables' | 'ebpf' | 'userspace') {
  return compare(results(states), RECORDED, mode).worse.map(({ name }) => name);
}

describe('the comparison with upstream', () => {
  test('CONFORM-4 a test is worse if it fails or is skipped, and passes with upstream', () => {
    assert.deepEqual(worse({ a: 'pass', b: 'pass' }, 'nftables'), []);
    assert.deepEqual(worse({ a: 'fail' }, 'nftables'), ['a']);
    assert.deepEqual(worse({ a: 'skip' }, 'nftables'), ['a']);
    assert.deepEqual(worse({ b: 'fail', c: 'skip' }, 'nftables'), []);
  });

  test('CONFORM-4 a failure is worse if upstream skips the test or has no result', () => {
    assert.deepEqual(worse({ c: 'fail', d: 'fail', e: 'skip' }, 'nftables'), ['c', 'd']);
  });

  test('CONFORM-4 ebpf mode is compared with nftables mode, and userspace mode with iptables mode', () => {
    assert.deepEqual(worse({ b: 'fail' }, 'ebpf'), []);
    assert.deepEqual(worse({ b: 'fail' }, 'userspace'), ['b']);
  });

  test('CONFORM-4 the table is sorted, marks what is worse, and has the reasons and the counts', () => {
    const text = tableText(compare(results({ c: 'skip', a: 'fail', d: 'pass' }), RECORDED, 'nftables'));
    assert.deepEqual(text.split('\n'), [
      '  here     time   upstream',
      '* fail      1.0 s  pass  a',
      '                        why fail',
      '  skip      1.0 s  skip  c',
      '                        why skip',
      '  pass      1.0 s  -  d',
      '1 passed, 1 failed, 1 skipped',
    ]);
  });

  test('CONFORM-5 a record keeps the results of tests that did not run, and of other modes', () => {
    const { modes, version } = addRecord(RECORDED, results({ d: 'pass', b: 'pass' }), 'nftables');
    assert.equal(version, 'v1.36.4');
    assert.deepEqual(Object.entries(modes.nftables ?? {}), [
      ['a', 'pass'],
      ['b', 'pass'],
      ['c', 'skip'],
      ['d', 'pass'],
    ]);
    assert.deepEqual(modes.iptables, RECORDED.modes.iptables);
  });
});
