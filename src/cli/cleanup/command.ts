import { printable } from '../../lib/printable.ts';
import { type Command, HELP_FLAG, refuseArguments } from '../command.ts';
import { describeFlags, parseFlags } from '../flags/index.ts';
import { cleanModes } from './cleanup-all.ts';

const HELP = `Removes everything that the proxy wrote to the kernel, in every mode and both IP families, and nothing else.
Prints one line for each object that stays: the object, the reason and what to do. The exit status is then 1.

Usage:
  kube-proxy cleanup

Flags:
${describeFlags(HELP_FLAG)}
`;

export const cleanupCommand: Command = {
  name: 'cleanup',
  summary: 'remove everything that the proxy wrote to the kernel',
  async run(args, io) {
    const { values, positional } = parseFlags(HELP_FLAG, args);
    if (values.help) {
      io.stdout.write(HELP);
      return 0;
    }
    refuseArguments('kube-proxy cleanup', positional);
    let parts = 0;
    let left = 0;
    for await (const { removed, leftovers } of cleanModes()) {
      for (const object of removed) io.stdout.write(`removed ${object}\n`);
      for (const { message } of leftovers) io.stderr.write(`left ${printable(message)}\n`);
      parts += removed.length;
      left += leftovers.length;
    }
    if (parts + left === 0) io.stdout.write('nothing to remove\n');
    return left === 0 ? 0 : 1;
  },
};
