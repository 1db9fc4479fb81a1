import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assemble } from './assemble.ts';
import {
  addAtomic,
  alu,
  alu32,
  call,
  exit,
  go,
  type Instruction,
  label,
  load,
  set,
  setMap,
  setWide,
  store,
  when,
} from './instruction.ts';
import { type Place, r1, r2, r3, r4, r5, r6, r10 } from './place.ts';

const place = (base: typeof r2, offset: number, size: Place['size']): Place => ({ base, offset, size });

/** Bytes that llvm-mc prints for the same text (`-triple=bpfel -show-encoding`). */
const BY_LLVM: readonly (readonly [Instruction, string, string])[] = [
  [set(r1, r2), 'r1 = r2', 'bf21000000000000'],
  [set(r3, 5), 'r3 = 5', 'b703000005000000'],
  [set(r3, -7), 'r3 = -7', 'b7030000f9ffffff'],
  [alu(r4, '+', r5), 'r4 += r5', '0f54000000000000'],
  [alu(r4, '+', 6), 'r4 += 6', '0704000006000000'],
  [alu(r4, '-', r5), 'r4 -= r5', '1f54000000000000'],
  [alu(r4, '-', 6), 'r4 -= 6', '1704000006000000'],
  [alu(r4, '*', 3), 'r4 *= 3', '2704000003000000'],
  [alu(r4, '*', r5), 'r4 *= r5', '2f54000000000000'],
  [alu(r4, '/', 3), 'r4 /= 3', '3704000003000000'],
  [alu(r4, '/', r5), 'r4 /= r5', '3f54000000000000'],
  [alu(r4, '|', 3), 'r4 |= 3', '4704000003000000'],
  [alu(r4, '|', r5), 'r4 |= r5', '4f54000000000000'],
  [alu(r4, '&', 3), 'r4 &= 3', '5704000003000000'],
  [alu(r4, '&', r5), 'r4 &= r5', '5f54000000000000'],
  [alu(r4, '<<', 3), 'r4 <<= 3', '6704000003000000'],
  [alu(r4, '<<', r5), 'r4 <<= r5', '6f54000000000000'],
  [alu(r4, '>>', 3), 'r4 >>= 3', '7704000003000000'],
  [alu(r4, '>>', r5), 'r4 >>= r5', '7f54000000000000'],
  [alu32(r4, '+', r5), 'w4 += w5', '0c54000000000000'],
  [alu32(r4, '+', 6), 'w4 += 6', '0404000006000000'],
  [alu32(r4, '-', r5), 'w4 -= w5', '1c54000000000000'],
  [alu32(r4, '-', 6), 'w4 -= 6', '1404000006000000'],
  [alu32(r4, '*', r5), 'w4 *= w5', '2c54000000000000'],
  [alu32(r4, '*', 3), 'w4 *= 3', '2404000003000000'],
  [alu32(r4, '/', r5), 'w4 /= w5', '3c54000000000000'],
  [alu32(r4, '/', 3), 'w4 /= 3', '3404000003000000'],
  [alu32(r4, '|', r5), 'w4 |= w5', '4c54000000000000'],
  [alu32(r4, '|', 3), 'w4 |= 3', '4404000003000000'],
  [alu32(r4, '&', r5), 'w4 &= w5', '5c54000000000000'],
  [alu32(r4, '&', 3), 'w4 &= 3', '5404000003000000'],
  [alu32(r4, '<<', r5), 'w4 <<= w5', '6c54000000000000'],
  [alu32(r4, '<<', 3), 'w4 <<= 3', '6404000003000000'],
  [alu32(r4, '>>', r5), 'w4 >>= w5', '7c54000000000000'],
  [alu32(r4, '>>', 3), 'w4 >>= 3', '7404000003000000'],
  [setWide(r6, 0x123456789abcdef0n), 'r6 = 0x123456789abcdef0', '18060000f0debc9a0000000078563412'],
  [load(r1, place(r2, 1, 1)), 'r1 = *(u8 *)(r2 +1)', '7121010000000000'],
  [load(r1, place(r2, 2, 2)), 'r1 = *(u16 *)(r2 +2)', '6921020000000000'],
  [load(r1, place(r2, 4, 4)), 'r1 = *(u32 *)(r2 +4)', '6121040000000000'],
  [load(r1, place(r10, -8, 8)), 'r1 = *(u64 *)(r10 -8)', '79a1f8ff00000000'],
  [store(place(r2, 1, 1), r3), '*(u8 *)(r2 +1) = r3', '7332010000000000'],
  [store(place(r2, 2, 2), r3), '*(u16 *)(r2 +2) = r3', '6b32020000000000'],
  [store(place(r2, 4, 4), r3), '*(u32 *)(r2 +4) = r3', '6332040000000000'],
  [store(place(r10, -8, 8), r3), '*(u64 *)(r10 -8) = r3', '7b3af8ff00000000'],
  [addAtomic(place(r2, 4, 4), r3), 'lock *(u32 *)(r2 +4) += r3', 'c332040000000000'],
  [addAtomic(place(r2, 8, 8), r3), 'lock *(u64 *)(r2 +8) += r3', 'db32080000000000'],
  [go('there'), 'goto there', '0500020000000000'],
  [when(r1, '==', r2, 'there'), 'if r1 == r2 goto there', '1d21020000000000'],
  [when(r1, '==', 3, 'there'), 'if r1 == 0x3 goto there', '1501020003000000'],
  [when(r1, '>', r2, 'there'), 'if r1 > r2 goto there', '2d21020000000000'],
  [when(r1, '>', 3, 'there'), 'if r1 > 0x3 goto there', '2501020003000000'],
  [when(r1, '>=', r2, 'there'), 'if r1 >= r2 goto there', '3d21020000000000'],
  [when(r1, '>=', 3, 'there'), 'if r1 >= 0x3 goto there', '3501020003000000'],
  [when(r1, '!=', r2, 'there'), 'if r1 != r2 goto there', '5d21020000000000'],
  [when(r1, '!=', 3, 'there'), 'if r1 != 0x3 goto there', '5501020003000000'],
  [when(r1, '<', r2, 'there'), 'if r1 < r2 goto there', 'ad21020000000000'],
  [when(r1, '<', -3, 'there'), 'if r1 < 0xfffffffd goto there', 'a5010200fdffffff'],
  [when(r1, '<=', r2, 'there'), 'if r1 <= r2 goto there', 'bd21020000000000'],
  [call('map_lookup_elem'), 'call bpf_map_lookup_elem#1', '8500000001000000'],
  [exit(), 'exit', '9500000000000000'],
];

/** Bytes by RFC 9669, for what older versions of llvm-mc do not know. */
const BY_STANDARD: readonly (readonly [Instruction, string, string])[] = [
  [alu(r4, '%', 3), 'r4 %= 3', '9704000003000000'],
  [alu(r4, '%', r5), 'r4 %= r5', '9f54000000000000'],
  [alu32(r4, '%', 3), 'w4 %= 3', '9404000003000000'],
  [alu32(r4, '%', r5), 'w4 %= w5', '9c54000000000000'],
  [store(place(r2, 1, 1), 3), '*(u8 *)(r2 +1) = 3', '7202010003000000'],
  [store(place(r2, 2, 2), 3), '*(u16 *)(r2 +2) = 3', '6a02020003000000'],
  [store(place(r2, 4, 4), 3), '*(u32 *)(r2 +4) = 3', '6202040003000000'],
  [store(place(r10, -8, 8), -3), '*(u64 *)(r10 -8) = -3', '7a0af8fffdffffff'],
  [when(r1, '&', r2, 'there'), 'if r1 & r2 goto there', '4d21020000000000'],
  [when(r1, '&', 3, 'there'), 'if r1 & 0x3 goto there', '4501020003000000'],
];

/** Two instructions are between a jump and its label. */
function bytesOf(instruction: Instruction): string {
  const { code } = assemble([instruction, exit(), exit(), label('there'), exit()]);
  return code.subarray(0, code.length - 3 * 8).toString('hex');
}

for (const [source, rows] of [
  ['llvm-mc', BY_LLVM],
  ['the standard', BY_STANDARD],
] as const) {
  describe(`BPF-1 instructions have the bytes of ${source}`, () => {
    for (const [instruction, text, bytes] of rows) {
      test(`BPF-1 ${text}`, () => assert.deepEqual([instruction.text, bytesOf(instruction)], [text, bytes]));
    }
  });
}

test('BPF-1 a map is a wide instruction whose number is filled in later', () => {
  const instruction = setMap(r1, 'frontends4');
  assert.equal(instruction.text, 'r1 = map[frontends4]');
  assert.equal(bytesOf(instruction), '1811000000000000'.padEnd(32, '0'));
});

test('BPF-1 a jump backwards has a negative distance', () => {
  const { code } = assemble([label('start'), set(r1, 0), when(r1, '<=', 3, 'start'), exit()]);
  assert.equal(code.subarray(8, 16).toString('hex'), 'b501feff03000000');
});
