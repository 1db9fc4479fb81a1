import { assemble, type Hook, type Part, type ProgramSpec } from '../../../kernel/bpf/index.ts';
import { connect4, connect6 } from './connect.ts';
import { getpeername4, getpeername6 } from './getpeername.ts';
import type { ProgramOptions } from './program-options.ts';
import { release } from './release.ts';

/** The programs of a generation, each for the hook that has its name. */
export function socketPrograms(options: ProgramOptions): readonly ProgramSpec[] {
  return [
    program('connect4', 'connect.ts', connect4(options)),
    program('connect6', 'connect.ts', connect6(options)),
    program('getpeername4', 'getpeername.ts', getpeername4()),
    program('getpeername6', 'getpeername.ts', getpeername6()),
    ...(options.hasLeastConnections ? [program('release', 'release.ts', release(options))] : []),
  ];
}

function program(hook: Hook, file: string, part: Part): ProgramSpec {
  return { name: hook, hook, file, assembled: assemble(part) };
}
