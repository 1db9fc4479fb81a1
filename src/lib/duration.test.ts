import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DurationError, formatDuration, HOUR, parseDuration, SECOND, toMilliseconds } from './duration.ts';

const LARGEST = 2n ** 63n - 1n;

test('LIB-3 durations are parsed as Go parses them', () => {
  const cases: readonly [text: string, nanoseconds: bigint][] = [
    ['0', 0n],
    ['-0', 0n],
    ['0s', 0n],
    ['1h0m0s', HOUR],
    ['500ms', 500_000_000n],
    ['1.5h', 90n * 60n * SECOND],
    ['.5s', 500_000_000n],
    ['1.s', SECOND],
    ['-1s', -SECOND],
    ['+5s', 5n * SECOND],
    ['3us', 3_000n],
    ['3µs', 3_000n],
    ['3μs', 3_000n],
    ['1h1m1s1ms1us1ns', 3_661_001_001_001n],
    ['8760h', 31_536_000_000_000_000n],
    ['9007199254.740993s', 9_007_199_254_740_993_000n],
    ['0.3333333333333333333h', 1_200_000_000_000n],
    ['0.9223372036854775807h', 3_320_413_933_267n],
    ['0.100000000000000000000h', 360_000_000_000n],
    ['2562047h47m16.854775807s', LARGEST],
    ['9223372036854775807ns', LARGEST],
    ['-9223372036854775808ns', -LARGEST - 1n],
  ];
  for (const [text, nanoseconds] of cases) assert.equal(parseDuration(text), nanoseconds, text);
});

test('LIB-3 a text that is no duration is refused with the message of Go', () => {
  const cases: readonly [text: string, message: string][] = [
    ['', 'time: invalid duration ""'],
    ['-', 'time: invalid duration "-"'],
    ['x', 'time: invalid duration "x"'],
    ['.', 'time: invalid duration "."'],
    ['.s', 'time: invalid duration ".s"'],
    [' 1s', 'time: invalid duration " 1s"'],
    ['5', 'time: missing unit in duration "5"'],
    ['1s5', 'time: missing unit in duration "1s5"'],
    ['1.2.3s', 'time: missing unit in duration "1.2.3s"'],
    ['1d', 'time: unknown unit "d" in duration "1d"'],
    ['1s ', 'time: unknown unit "s " in duration "1s "'],
    ['1H', 'time: unknown unit "H" in duration "1H"'],
    ['1"\\é\n', String.raw`time: unknown unit "\"\\\xc3\xa9\x0a" in duration "1\"\\\xc3\xa9\x0a"`],
    ['9223372036854775808ns', 'time: invalid duration "9223372036854775808ns"'],
    ['-9223372036854775809ns', 'time: invalid duration "-9223372036854775809ns"'],
    ['2562047h47m16.854775808s', 'time: invalid duration "2562047h47m16.854775808s"'],
    ['9223372036854775809h', 'time: invalid duration "9223372036854775809h"'],
  ];
  for (const [text, message] of cases) {
    assert.throws(() => parseDuration(text), { name: 'DurationError', message }, text);
  }
});

test('LIB-3 durations are formatted as Go formats them', () => {
  const cases: readonly [nanoseconds: bigint, text: string][] = [
    [0n, '0s'],
    [1n, '1ns'],
    [1_100n, '1.1µs'],
    [2_200_000n, '2.2ms'],
    [3_300_000_000n, '3.3s'],
    [15n * 60n * SECOND, '15m0s'],
    [HOUR, '1h0m0s'],
    [245n * SECOND + 1_000_000n, '4m5.001s'],
    [8760n * HOUR, '8760h0m0s'],
    [-1_500_000_000n, '-1.5s'],
    [LARGEST, '2562047h47m16.854775807s'],
    [-LARGEST - 1n, '-2562047h47m16.854775808s'],
  ];
  for (const [nanoseconds, text] of cases) assert.equal(formatDuration(nanoseconds), text);
});

test('LIB-3 every formatted duration parses to the same duration', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -LARGEST - 1n, max: LARGEST }), duration => {
      const text = formatDuration(duration);
      const whole = duration % SECOND === 0n;
      // As in Go, a fraction goes through floating point. Whole seconds are exact.
      if (whole) assert.equal(parseDuration(text), duration);
      else assert.equal(formatDuration(parseDuration(text)), text);
    }),
  );
});

test('LIB-3 every text is a duration or a DurationError', () => {
  const pieces = fc.constantFrom(
    '1',
    '99999999999999999999',
    '.',
    'h',
    'm',
    's',
    'ms',
    'µs',
    '-',
    '+',
    ' ',
    '\0',
    '\ud800',
  );
  fc.assert(
    fc.property(fc.array(pieces), parts => {
      try {
        assert.equal(typeof parseDuration(parts.join('')), 'bigint');
      } catch (error) {
        assert.ok(error instanceof DurationError);
      }
    }),
  );
});

test('LIB-3 a duration converts to milliseconds for timers', () => {
  assert.equal(toMilliseconds(parseDuration('1.5s')), 1500);
  assert.equal(toMilliseconds(parseDuration('500us')), 0.5);
});
