import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseQuantity, QuantityError, quantityText, quantityValue } from './index.ts';
import { formatQuantity } from './quantity.ts';

test('CONF-12 quantities are written in their canonical form', () => {
  const cases: readonly [text: string, canonical: string][] = [
    ['0', '0'],
    ['0Ki', '0'],
    ['-', '0'],
    ['5', '5'],
    ['1000', '1k'],
    ['1024', '1024'],
    ['1500', '1500'],
    ['0.5', '500m'],
    ['1.0000000001', '1000000001n'],
    ['0.00000000000000001', '1n'],
    ['64Ki', '64Ki'],
    ['1024Ki', '1Mi'],
    ['-2048Ki', '-2Mi'],
    ['1.5Gi', '1536Mi'],
    ['0.1Ki', '102400m'],
    ['9999Ei', '9223372036854775807'],
    ['1e3', '1e3'],
    ['12e7', '120e6'],
    ['1E3', '1e3'],
    ['3E', '3E'],
    ['1e999999999', '1e999999999'],
  ];
  for (const [text, canonical] of cases) assert.equal(formatQuantity(parseQuantity(text)), canonical, text);
});

test('CONF-4 a text that is not a quantity is refused', () => {
  const pattern = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  for (const text of ['', 'x', '5 Ki', '5Q', '1.2.3'])
    assert.throws(() => parseQuantity(text), { message: pattern }, text);
  for (const text of ['5ki', '5KK', '5e', '+-5']) {
    assert.throws(
      () => parseQuantity(text),
      { name: 'QuantityError', message: "unable to parse quantity's suffix" },
      text,
    );
  }
});

test('CONF-12 the canonical form of a canonical text is that text', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.-+eEKMGTPinumk') }), text => {
      try {
        const canonical = formatQuantity(parseQuantity(text));
        // There is no suffix beyond E. Larger numbers have more digits instead.
        if (!/[0-9]{18}/.test(canonical)) assert.equal(formatQuantity(parseQuantity(canonical)), canonical);
      } catch (error) {
        assert.ok(error instanceof QuantityError);
      }
    }),
  );
});

test('CONF-12 a quantity that is almost canonical keeps its text', () => {
  const cases: readonly [text: string, written: string][] = [
    ['+1', '+1'],
    ['05', '05'],
    ['5.', '5.'],
    ['1.500', '1.500'],
    ['1E3', '1E3'],
    ['1e03', '1e03'],
    ['+1Ki', '+1Ki'],
    ['5.0', '5'],
    ['1.0Ki', '1Ki'],
    ['+1000', '1k'],
    ['0001000', '1k'],
    ['12E2', '1200'],
    ['8Ki', '8Ki'],
    ['0.500', '500m'],
    ['+0', '0'],
    ['00', '0'],
    ['1000000000000000000', '1E'],
  ];
  for (const [text, written] of cases) assert.equal(quantityText(text), written, text);
});

test('CONF-11 the value of a quantity overflows as in Kubernetes', () => {
  const cases: readonly [text: string, value: bigint][] = [
    ['0', 0n],
    ['1n', 1n],
    ['-1500m', -2n],
    ['64Ki', 65_536n],
    ['9E', 9_000_000_000_000_000_000n],
    ['10E', 0n],
    ['-1e19', 0n],
    ['1e999999999', 0n],
    ['9223372036854775808', -9_223_372_036_854_775_808n],
    ['999999999999999999999', 3_875_820_019_684_212_735n],
  ];
  for (const [text, value] of cases) assert.equal(quantityValue(parseQuantity(text)), value, text);
});
