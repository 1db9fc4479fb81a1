import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bytesText, scaleRegions } from '../../bench/plots/scale.ts';
import type { Figure } from '../../bench/record/result.ts';
import { figure, result } from './sample-results.ts';

const WIRE = { name: 'bytes with TLS and HTTP/2', unit: 'bytes', kind: 'size' } as const;
const STORM = { part: 'storm, API server works', size: '200 proxies', kind: 'estimate' } as const;

function regions(figures: readonly Figure[], notes = {}) {
  return scaleRegions(result(figures, { bench: 'api-load', notes }));
}

describe('docs/scale.md', () => {
  test('LOAD-5 the bytes of a start are those of each program, and of 5,000 nodes', () => {
    const { starts = '' } = regions([
      figure({ ...WIRE, part: 'start', subject: 'ours', value: 1_000_000 }),
      figure({ ...WIRE, part: 'start', subject: 'theirs', value: 2_000_000 }),
    ]);
    assert.ok(starts.includes('| 1000 × 5 | streaming list, protobuf | 1 MB | 2 MB | 5 GB | 4 s |'), starts);
  });

  test('LOAD-5 changes are those of the largest cluster', () => {
    const change = { ...WIRE, part: 'change of a Service' };
    const { changes = '' } = regions([
      figure({ ...change, value: 100 }),
      figure({ ...change, size: '5000x5', value: 600 }),
    ]);
    assert.ok(changes.includes('| a Service | 600 B |  | 3 MB | 2.4 ms |'), changes);
    assert.ok(!changes.includes('100 B'));
  });

  test('LOAD-5 processor time is multiplied by 5,000', () => {
    const { processor = '' } = regions([
      figure({ ...STORM, name: "API server's processor, each proxy", unit: 'ms', value: 4 }),
      figure({ ...STORM, name: "API server's processor for a change, each proxy", unit: 'µs', value: 50 }),
    ]);
    assert.ok(processor.includes('| start | 200 proxies | 4 ms | 20 s |'), processor);
    assert.ok(processor.includes('| change of a slice | 200 proxies | 50 µs | 250 ms |'), processor);
  });

  test('LOAD-5 a storm has a column for each number of proxies, and the load of the machine', () => {
    const figures = ['200', '500'].map((n, i) =>
      figure({ ...STORM, size: `${n} proxies`, name: 'all synced after', unit: 's', value: i + 1 }),
    );
    const { storms = '' } = regions(figures, { 'load before storm, API server works, 500 proxies': '7.5' });
    assert.ok(storms.includes('### API server works'), storms);
    assert.ok(storms.includes('| all synced after, s | 1 | 2 |'), storms);
    assert.ok(storms.includes('| load of the machine before |  | 7.5 |'), storms);
  });

  test('LOAD-5 without a recorded run the tables are empty', () => {
    assert.deepEqual([...new Set(Object.values(scaleRegions(undefined)))], ['']);
    assert.deepEqual([999, 1500, 2_500_000, undefined].map(bytesText), ['999 B', '1.5 kB', '2.5 MB', '']);
  });
});
