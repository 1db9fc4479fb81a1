import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KernelError } from '../errors.ts';
import { assemble } from './assemble.ts';
import {
  addAtomic,
  alu,
  alu32,
  COMPARISONS,
  type Comparison,
  call,
  exit,
  go,
  HELPERS,
  type Helper,
  type Instruction,
  label,
  load,
  OPERATORS,
  type Operator,
  type Part,
  set,
  setWide,
  store,
  when,
} from './instruction.ts';
import { r0, r2, r3, r4, r5, r6, r9, r10 } from './place.ts';
import { BpfProgram } from './program.ts';

const SIZES = [1, 2, 4, 8] as const;
const operators = Object.keys(OPERATORS) as Operator[];
const comparisons = Object.keys(COMPARISONS) as Comparison[];

/** What the instructions below read, and r9, which nothing ever sets. */
const before: readonly Part[] = [
  set(r2, r10),
  alu(r2, '+', -32),
  store({ base: r2, offset: 0, size: 8 }, 0),
  store({ base: r2, offset: 8, size: 8 }, 0),
  set(r3, 3),
  set(r4, 4),
  set(r5, 5),
];

const instructions: readonly Instruction[] = [
  set(r3, r4),
  set(r3, -7),
  setWide(r6, 0x1234_5678_9abc_def0n),
  setWide(r6, -1n),
  ...operators.flatMap(operator => [
    alu(r4, operator, r5),
    alu(r4, operator, 6),
    alu32(r4, operator, r5),
    alu32(r4, operator, 6),
  ]),
  ...SIZES.flatMap(size => {
    const place = { base: r2, offset: size, size };
    return [load(r3, place), store(place, r3), store(place, -3)];
  }),
  addAtomic({ base: r2, offset: 4, size: 4 }, r3),
  addAtomic({ base: r2, offset: 8, size: 8 }, r3),
  go('next'),
  ...comparisons.flatMap(comparison => [when(r4, comparison, r5, 'next'), when(r4, comparison, -5, 'next')]),
];

/** How the verifier prints the instruction at an index of a program that it refuses. */
function printed(parts: Part, index: number): string {
  try {
    const spec = { name: 'test', hook: 'connect4', file: 'test.ts', assembled: assemble(parts) } as const;
    BpfProgram.load(spec, () => -1).close();
  } catch (error) {
    assert.ok(error instanceof KernelError);
    const line = error.kernelMessage?.split('\n').find(text => text.startsWith(`${index}: (`));
    return line?.replace(/^\d+: /, '').replace(/ *;.*$/, '') ?? error.message;
  }
  return assert.fail('the verifier accepted it');
}

const asPrinted = ({ opcode, text }: Instruction) => {
  const code = opcode.toString(16).padStart(2, '0');
  return `(${code}) ${text.replace('goto next', 'goto pc+0')}`;
};

describe('BPF-1 the kernel prints instructions as we do', () => {
  for (const instruction of instructions) {
    test(`BPF-1 ${instruction.text}`, () =>
      assert.equal(
        printed([before, instruction, label('next'), set(r0, r9), exit()], before.length),
        asPrinted(instruction),
      ));
  }

  for (const helper of Object.keys(HELPERS) as Helper[]) {
    test(`BPF-1 call ${helper}`, () =>
      assert.equal(printed([call(helper), set(r0, r9), exit()], 0), asPrinted(call(helper))));
  }

  test('BPF-1 exit', () => assert.equal(printed([exit()], 0), asPrinted(exit())));
});
