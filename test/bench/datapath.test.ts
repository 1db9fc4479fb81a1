import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countedSlices, type PathSlice, pathFigures, sliceOf, takePathTurns } from '../../bench/path/turns.ts';
import { comparisonsOf, isPossible, waysOf } from '../../bench/path/ways.ts';

const OURS = { name: 'Pointsman', version: '1', command: ['kube-proxy'] };
const UPSTREAM = { name: 'kube-proxy v1.37.0', version: 'v1.37.0', command: ['upstream'] };
const WAYS = waysOf(OURS, ['nftables', 'userspace'], [UPSTREAM], ['nftables', 'iptables']);
const LOAD = { count: 100, errors: 0, ms: 100, cpuMs: 50, p50: 20, p99: 40, slow: 0, totalCpuMs: 98 };

function slice(way: string, fields: Partial<PathSlice> = {}): PathSlice {
  return { ...sliceOf(way, 'connection', LOAD), ...fields };
}

describe('the bench of packets', () => {
  test('BENCH-12 the ways are direct, each of our modes, and each mode of each upstream program', () => {
    assert.deepEqual(
      WAYS.map(({ name }) => name),
      [
        'direct',
        'Pointsman nftables',
        'Pointsman userspace',
        'kube-proxy v1.37.0 nftables',
        'kube-proxy v1.37.0 iptables',
      ],
    );
  });

  test('BENCH-12 each of our modes is compared with no proxy, and with the same mode of upstream', () => {
    assert.deepEqual(
      comparisonsOf(WAYS).map(({ ours, theirs }) => `${ours} | ${theirs}`),
      [
        'Pointsman nftables | direct',
        'Pointsman nftables | kube-proxy v1.37.0 nftables',
        'Pointsman userspace | direct',
      ],
    );
  });

  test('BENCH-12 userspace mode is left out with more than 1,000 Services', () => {
    const names = (services: number) => WAYS.filter(way => isPossible(way, services)).length;
    assert.deepEqual([names(1000), names(30_000)], [5, 4]);
  });

  test('BENCH-13 the ways take turns, each round begins with another, and the first round does not count', async () => {
    const order: string[] = [];
    const slices = await takePathTurns(['a', 'b', 'c'], 2, async way => {
      order.push(way);
      return slice(way);
    });
    assert.equal(order.join(''), 'cababcbca');
    assert.equal(slices.map(({ way }) => way).join(''), 'abcbca');
  });

  test('BENCH-13 a slice is quiet if client and server had their processor', () => {
    assert.equal(slice('a').isQuiet, true);
    assert.equal(sliceOf('a', 'connection', { ...LOAD, totalCpuMs: 80 }).isQuiet, false);
  });

  test('BENCH-13 disturbed slices count only if a way has too few quiet ones', () => {
    const quiet = ['a', 'a', 'a', 'b', 'b', 'b'].map(way => slice(way));
    const disturbed = slice('a', { isQuiet: false });
    assert.deepEqual(countedSlices([...quiet, disturbed]), quiet);
    const few = [...quiet.slice(1), disturbed];
    assert.deepEqual(countedSlices(few), few);
  });

  test('BENCH-14 an operation has a rate, times and processor time, and bulk transfer has no times', () => {
    const names = (operation: 'connection' | 'bulk') =>
      pathFigures([slice('a', { operation })], operation, '10 Services').map(({ name, unit }) => `${name}, ${unit}`);
    assert.deepEqual(names('connection'), ['rate, a second', 'time p50, µs', 'time p99, µs', 'processor, µs']);
    assert.deepEqual(names('bulk'), ['rate, MB/s', 'processor, µs/MB']);
    const [rate, , , processor] = pathFigures([slice('a')], 'connection', '10 Services');
    assert.deepEqual([rate?.value, processor?.value], [1000, 980]);
  });
});
