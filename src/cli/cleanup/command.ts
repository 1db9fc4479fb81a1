import { cleanupNftables } from '../../modes/nftables/index.ts';
import type { Command } from '../command.ts';
import { describeFlags, parseFlags } from '../flags/index.ts';
import { HELP_FLAG } from '../help-flag.ts';
import { refuseArguments } from '../no-arguments.ts';

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
    const removed = await cleanupNftables();
    io.stdout.write(
      removed.length > 0 ? removed.map(table => `removed table ${table}\n`).join('') : 'nothing to remove\n',
    );
    return 0;
  },
};
