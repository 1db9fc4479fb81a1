import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageWriter } from '../../netlink/index.ts';
import { decodeVerdict, encodeVerdict, printVerdict, type Verdict } from './verdict.ts';

/** Each verdict as an attribute of type 2, as nft 1.0.6 sends it in the elements of a verdict map. */
const CASES: readonly (readonly [Verdict, hex: string, text: string])[] = [
  [{ kind: 'accept' }, '10000280 0c000280 0800010000000001', 'accept'],
  [{ kind: 'drop' }, '10000280 0c000280 0800010000000000', 'drop'],
  [{ kind: 'continue' }, '10000280 0c000280 08000100ffffffff', 'continue'],
  [{ kind: 'return' }, '10000280 0c000280 08000100fffffffb', 'return'],
  [{ kind: 'jump', chain: 'r' }, '18000280 14000280 08000100fffffffd 0600020072000000', 'jump r'],
  [{ kind: 'goto', chain: 'r' }, '18000280 14000280 08000100fffffffc 0600020072000000', 'goto r'],
];

for (const [verdict, hex, text] of CASES) {
  test(`KERNEL-1 encodes, decodes and prints the verdict ${text}`, () => {
    const writer = new MessageWriter();
    encodeVerdict(writer, 2, verdict);
    assert.equal(writer.bytes.toString('hex'), hex.replaceAll(' ', ''));
    assert.deepEqual(decodeVerdict(writer.bytes.subarray(4)), verdict);
    assert.equal(printVerdict(verdict), text);
  });
}

test('KERNEL-1 an unknown verdict, or bytes without a verdict, decode to undefined', () => {
  const queue = '0c000280 0800010000000003';
  const jumpNowhere = '0c000280 08000100fffffffd';
  const data = '08000100 0a000001';
  for (const hex of [queue, jumpNowhere, data, '04000280', '']) {
    assert.equal(decodeVerdict(Buffer.from(hex.replaceAll(' ', ''), 'hex')), undefined, hex);
  }
});
