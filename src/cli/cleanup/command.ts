import { cleanupIpvs } from '../../modes/ipvs/index.ts';
import { cleanupNftables } from '../../modes/nftables/index.ts';
import type { Command } from '../command.ts';
import { boolFlag, FlagError, type FlagSpec, parseFlags } from '../flags.ts';

const FLAGS: readonly FlagSpec[] = [{ name: 'help', shorthand: 'h', type: 'bool', usage: 'this help' }];

const HELP = `Removes all that the proxy made in the kernel, in every mode and both IP families, and nothing else.

Usage:
  kube-proxy cleanup
`;

export const cleanupCommand: Command = {
  name: 'cleanup',
  summary: 'remove all that the proxy made in the kernel',
  async run(args, io) {
    const { values, positional } = parseFlags(FLAGS, args);
    if (boolFlag(values, 'help')) {
      io.stdout.write(HELP);
      return 0;
    }
    if (positional.length > 0) {
      throw new FlagError(`"kube-proxy cleanup" does not take any arguments, got ${JSON.stringify(positional)}`);
    }
    const tables = (await cleanupNftables()).map(table => `table ${table}`);
    const removed = [...tables, ...(await cleanupIpvs())];
    io.stdout.write(removed.length > 0 ? removed.map(what => `removed ${what}\n`).join('') : 'nothing to remove\n');
    return 0;
  },
};
