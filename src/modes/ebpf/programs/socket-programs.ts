import type { ProgramSpec } from '../../../kernel/bpf/index.ts';
import { connect4, connect6 } from './connect.ts';
import { getpeername4, getpeername6 } from './getpeername.ts';
import type { ProgramOptions } from './program-options.ts';
import { release } from './release.ts';

/** The programs of a generation, each for the hook that has its name. */
export function socketPrograms(options: ProgramOptions): readonly ProgramSpec[] {
  return [
    { name: 'connect4', hook: 'connect4', file: 'connect.ts', assembled: connect4(options) },
    { name: 'connect6', hook: 'connect6', file: 'connect.ts', assembled: connect6(options) },
    { name: 'getpeername4', hook: 'getpeername4', file: 'getpeername.ts', assembled: getpeername4() },
    { name: 'getpeername6', hook: 'getpeername6', file: 'getpeername.ts', assembled: getpeername6() },
    ...(options.hasLeastConnections
      ? [{ name: 'release', hook: 'release', file: 'release.ts', assembled: release() } as const]
      : []),
  ];
}
