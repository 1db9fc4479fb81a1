import { type BpfProgram, HOOKS } from '../../src/kernel/bpf/index.ts';
import { check, syscall } from '../../src/kernel/libc.ts';

const CALL_NUMBERS: Readonly<Record<string, number>> = { x64: 321, arm64: 280 };
const [PROG_ATTACH, PROG_DETACH] = [8, 9];

/**
 * Attaches a program to a control group in the old way, so that no other one can be attached. `fd` is a descriptor of the
 * control group. Returns what detaches the program.
 */
export function attachAlone({ fd: program, hook }: BpfProgram, fd: number): () => void {
  const call = (command: number) => {
    const attributes = Buffer.alloc(16);
    for (const [i, value] of [fd, program, HOOKS[hook].attach, 0].entries()) attributes.writeUInt32LE(value, i * 4);
    const number = CALL_NUMBERS[process.arch];
    check(Number(syscall(number, command, attributes, attributes.length, 0, 0)), 'attach a program');
  };
  call(PROG_ATTACH);
  return () => call(PROG_DETACH);
}
