import { errorText } from '../../lib/error-text.ts';
import { type Command, HELP_FLAG, refuseArguments } from '../command.ts';
import { describeFlags, parseFlags } from '../flags/index.ts';
import { cleanModes } from './cleanup-all.ts';

const HELP = `Removes everything that the proxy wrote to the kernel, in every mode and both IP families, and nothing else.

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
    let failures = 0;
    for await (const { mode, removed, errors } of cleanModes()) {
      for (const object of removed) io.stdout.write(`removed ${object}\n`);
      for (const error of errors) io.stderr.write(`${mode}: ${errorText(error)}\n`);
      parts += removed.length;
      failures += errors.length;
    }
    if (parts + failures === 0) io.stdout.write('nothing to remove\n');
    return failures === 0 ? 0 : 1;
  },
};
