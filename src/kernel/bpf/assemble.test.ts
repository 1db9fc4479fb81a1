import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AssemblyError, assemble, withMaps } from './assemble.ts';
import { alu, exit, go, label, load, note, type Part, set, setMap, setWide, store, when } from './instruction.ts';
import { type Place, r0, r1, r2, r3, r10 } from './place.ts';
import { clear, frame, lookup, returns } from './stack.ts';
import { struct, u8, u16, u32 } from './struct.ts';

function mistake(parts: Part): string {
  try {
    assemble(parts);
  } catch (error) {
    assert.ok(error instanceof AssemblyError, String(error));
    return error.message;
  }
  return assert.fail('nothing was wrong');
}

const far = Array.from({ length: 0x8000 }, () => set(r1, 0));

for (const [what, parts, message] of [
  ['a jump to nowhere', [set(r0, 1), go('nowhere'), exit()], 'instruction 1, goto nowhere: there is no label nowhere'],
  [
    'a jump past the end',
    [when(r1, '==', 0, 'end'), exit(), label('end')],
    'instruction 0, if r1 == 0x0 goto end: no instruction follows label end',
  ],
  [
    'a label that is there twice',
    [label('a'), set(r0, 1), label('a'), exit()],
    'label a is there twice: before instruction 0 and before 1',
  ],
  [
    'a jump too far forwards',
    [go('far'), far, label('far'), exit()],
    'instruction 0, goto far: the distance to label far is 32768, which is no signed number of 16 bits',
  ],
  [
    'a jump too far backwards',
    [label('far'), far, go('far')],
    'instruction 32768, goto far: the distance to label far is -32769, which is no signed number of 16 bits',
  ],
  [
    'a number that needs more than 32 bits',
    [set(r1, 0x8000_0000), exit()],
    'instruction 0, r1 = 2147483648: the number is 2147483648, which is no signed number of 32 bits',
  ],
  [
    'an offset that needs more than 16 bits',
    [load(r1, { base: r2, offset: 0x8000, size: 4 }), exit()],
    'instruction 0, r1 = *(u32 *)(r2 +32768): the offset is 32768, which is no signed number of 16 bits',
  ],
  ['a program without instructions', [note('nothing'), label('a')], 'the program has no instruction'],
] as const) {
  test(`BPF-2 ${what} is an error before the kernel is asked`, () => assert.equal(mistake(parts), message));
}

test('BPF-2 a jump may pass over 32767 instructions', () => {
  const { code } = assemble([go('far'), far.slice(1), label('far'), exit()]);
  assert.equal(code.readInt16LE(2), 0x7fff);
});

test('BPF-2 a wide instruction counts twice for a jump', () => {
  const { code } = assemble([go('out'), setWide(r1, 1n), setMap(r2, 'map'), label('out'), exit()]);
  assert.equal(code.readInt16LE(2), 4);
});

test('BPF-2 whatever the parts of a program are, only an AssemblyError says that they are wrong', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const number = fc.oneof(fc.integer(), fc.double(), fc.maxSafeInteger());
  const size = fc.constantFrom(...([1, 2, 4, 8] as const));
  const place: fc.Arbitrary<Place> = fc.record({ base: fc.constant(r10), offset: fc.integer(), size });
  const part: fc.Arbitrary<Part> = fc.oneof(
    name.map(label),
    name.map(note),
    name.map(go),
    fc.tuple(number, name).map(([value, to]) => when(r1, '>', value, to)),
    number.map(value => set(r1, value)),
    number.map(value => alu(r1, '%', value)),
    fc.bigInt().map(value => setWide(r3, value)),
    place.map(from => load(r1, from)),
    fc.tuple(place, number).map(([to, value]) => store(to, value)),
    name.map(map => setMap(r1, map)),
  );
  const isRight = (parts: Part) => {
    try {
      return assemble(parts).code.length % 8 === 0;
    } catch (error) {
      return error instanceof AssemblyError;
    }
  };
  fc.assert(fc.property(fc.array(fc.oneof(part, fc.array(part)), { maxLength: 30 }), isRight), { numRuns: 2000 });
});

const stack = frame({ key: struct({ address: u32, port: u16, protocol: u8 }), value: struct({ count: u32 }) });

test('BPF-1 the listing has notes, labels and the numbers of instructions', () => {
  const { listing, notes } = assemble([
    note('target = frontends[key]'),
    clear(stack.key),
    lookup('frontends', stack.key),
    when(r0, '==', 0, 'leave'),
    note('this is replaced'),
    note('done'),
    label('out'),
    label('leave'),
    returns(1),
  ]);
  assert.deepEqual(listing, [
    '; target = frontends[key]',
    '0: *(u64 *)(r10 -8) = 0',
    '1: r1 = map[frontends]',
    '3: r2 = r10',
    '4: r2 += -8',
    '5: call bpf_map_lookup_elem#1',
    '6: if r0 == 0x0 goto leave',
    'out:',
    'leave:',
    '; done',
    '7: r0 = 1',
    '8: exit',
  ]);
  assert.deepEqual(notes, [
    { index: 0, text: 'target = frontends[key]' },
    { index: 7, text: 'done' },
  ]);
});

test('BPF-1 structures on the stack begin at multiples of eight bytes', () => {
  assert.deepEqual([stack.key.start, stack.key.bytes, stack.value.start], [-8, 8, -16]);
  assert.deepEqual(stack.key.at.port, { base: r10, offset: -4, size: 2 });
});

test('BPF-1 the descriptors of maps are filled in where the program names the maps', () => {
  const assembled = assemble([setMap(r1, 'a'), setMap(r2, 'b'), exit()]);
  assert.deepEqual(assembled.references, [
    { at: 0, map: 'a' },
    { at: 16, map: 'b' },
  ]);
  const code = withMaps(assembled, map => (map === 'a' ? 7 : 9));
  assert.deepEqual([code.readInt32LE(4), code.readInt32LE(20)], [7, 9]);
  assert.equal(assembled.code.readInt32LE(4), 0);
});
