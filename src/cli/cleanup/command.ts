import { errorText } from '../../lib/error-text.ts';
import type { Command } from '../command.ts';
import { describeFlags, parseFlags } from '../flags/index.ts';
import { HELP_FLAG } from '../help-flag.ts';
import { refuseArguments } from '../no-arguments.ts';
import { CLEANUP_PARTS } from './cleanup-all.ts';

const HELP = `Removes all that the proxy made in the kernel, in every mode and both IP families, and nothing else.

Usage:
  kube-proxy cleanup

Flags:
${describeFlags(HELP_FLAG)}
`;

export const cleanupCommand: Command = {
  name: 'cleanup',
  summary: 'remove all that the proxy made in the kernel',
  async run(args, io) {
    const { values, positional } = parseFlags(HELP_FLAG, args);
    if (values.help) {
      io.stdout.write(HELP);
      return 0;
    }
    refuseArguments('kube-proxy cleanup', positional);
    const removed: string[] = [];
    let status = 0;
    for (const { mode, clean } of CLEANUP_PARTS) {
      try {
        removed.push(...(await clean()));
      } catch (error) {
        io.stderr.write(`${mode}: ${errorText(error)}\n`);
        status = 1;
      }
    }
    const isClean = removed.length === 0 && status === 0;
    io.stdout.write(isClean ? 'nothing to remove\n' : removed.map(what => `removed ${what}\n`).join(''));
    return status;
  },
};
