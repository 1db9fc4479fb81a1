import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { histogramOf, histogramQuantile, histogramSince, samplesOf, totalOf } from '../../bench/scale/metrics-text.ts';

const TEXT = `# HELP duration_seconds A duration.
duration_seconds_bucket{ip_family="IPv4",le="1"} 2
duration_seconds_bucket{ip_family="IPv4",le="2"} 8
duration_seconds_bucket{ip_family="IPv4",le="+Inf"} 10
duration_seconds_bucket{ip_family="IPv6",le="1"} 0
duration_seconds_bucket{ip_family="IPv6",le="2"} 0
duration_seconds_bucket{ip_family="IPv6",le="+Inf"} 0
duration_seconds_sum{ip_family="IPv4"} 15.5
duration_seconds_sum{ip_family="IPv6"} 0.5
`;

describe('metrics that benches read', () => {
  test('BENCH-11 samples have a name, labels and a value', () => {
    assert.deepEqual(samplesOf(TEXT, 'duration_seconds_sum')[0], {
      name: 'duration_seconds_sum',
      labels: { ip_family: 'IPv4' },
      value: 15.5,
    });
    assert.equal(totalOf(TEXT, 'duration_seconds_sum'), 16);
  });

  test('BENCH-11 a quantile is interpolated in its bucket, and the last bucket has no upper end', () => {
    const histogram = histogramOf(TEXT, 'duration_seconds');
    assert.equal(histogramQuantile(histogram, 0.5), 1.5);
    assert.equal(histogramQuantile(histogram, 0.1), 0.5);
    assert.equal(histogramQuantile(histogram, 0.99), 2);
    assert.ok(Number.isNaN(histogramQuantile(new Map(), 0.5)));
  });

  test('BENCH-11 only what was observed during a part counts', () => {
    const histogram = histogramOf(TEXT, 'duration_seconds');
    const before = new Map([
      [1, 2],
      [2, 2],
      [Number.POSITIVE_INFINITY, 2],
    ]);
    assert.deepEqual([...histogramSince(histogram, before).values()], [0, 6, 8]);
    assert.ok(Number.isNaN(histogramQuantile(histogramSince(histogram, histogram), 0.99)));
  });
});
