import { label, note, type Part, r0, r1, r2, r9, returns, set, when } from '../../../kernel/bpf/index.ts';
import { countOff } from './parts/least-connections.ts';
import { recordOfSocket } from './parts/socket-record.ts';
import { endedStack } from './parts/stack.ts';
import type { ProgramOptions } from './program-options.ts';

/** The last descriptor of a socket was closed, also because its process ended. */
export function release({ countedBy }: ProgramOptions): Part {
  return [
    note('what the socket remembers: peers[socket]'),
    [set(r2, r1), recordOfSocket(), when(r0, '==', 0, 'done'), set(r9, r0)],
    countOff(endedStack(), 'closed', countedBy),
    [label('done'), note('the kernel closes the socket'), returns(1)],
  ];
}
