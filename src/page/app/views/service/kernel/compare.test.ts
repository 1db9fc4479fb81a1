import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PortKernelDetail } from '../../../../../inspect/index.ts';
import { comparePort, type Entry, readingText } from './compare.ts';

function entry(place: string, state: Entry['state']): Entry {
  return { kind: 'element', place, wanted: 'a', found: state === 'missing' ? undefined : 'a', state };
}

function port(entries: readonly Entry[]): PortKernelDetail {
  return { name: 'http', protocol: 'TCP', family: 'IPv4', entries, affinity: [] };
}

describe('the kernel beside the plan', () => {
  test('PAGE-69 equal entries are counted and sorted by place, all others are listed', () => {
    const entries = [
      entry('map a', 'equal'),
      entry('map b', 'missing'),
      entry('set c', 'equal'),
      entry('map a', 'equal'),
    ];
    const { differing, equal, equalCount } = comparePort(port(entries));
    assert.deepEqual(
      differing.map(({ place }) => place),
      ['map b'],
    );
    assert.deepEqual(
      equal.map(({ place, entries: { length } }) => [place, length]),
      [
        ['map a', 2],
        ['set c', 1],
      ],
    );
    assert.equal(equalCount, 3);
  });

  test('PAGE-69 one sentence says how it is', () => {
    const text = (...states: Entry['state'][]) =>
      readingText({ ports: [port(states.map(state => entry('a', state)))] });
    assert.equal(text('equal', 'equal'), 'The kernel has all 2 entries that the proxy wants.');
    assert.equal(
      text('equal', 'missing', 'missing', 'unexpected'),
      'The kernel differs from the plan: 2 missing, 1 unexpected, 1 equal.',
    );
    assert.equal(text(), 'The kernel has nothing for this Service, and the proxy wants nothing there.');
  });
});
