import { printable } from '../../lib/printable.ts';
import { defineCommand } from '../command.ts';
import { CGROUP_ROOT_FLAG } from '../node-flags.ts';
import { cleanModes } from './cleanup-all.ts';

export const cleanupCommand = defineCommand({
  name: 'cleanup',
  summary: 'remove everything that the proxy wrote to the kernel',
  about: `Removes everything that the proxy wrote to the kernel, in every mode and both IP families, and nothing else.
Prints one line for each object that stays: the object, the reason and what to do. The exit status is then 1.`,
  usage: 'cleanup [flags]',
  examples: [{ meaning: 'After the proxy of this node was removed', command: 'kube-proxy cleanup' }],
  flags: { 'cgroup-root': CGROUP_ROOT_FLAG },
  async run({ values }, io) {
    let parts = 0;
    let left = 0;
    for await (const { removed, leftovers } of cleanModes({ cgroupRoot: values['cgroup-root'] || undefined })) {
      for (const object of removed) io.stdout.write(`removed ${object}\n`);
      for (const { message } of leftovers) io.stderr.write(`left ${printable(message)}\n`);
      parts += removed.length;
      left += leftovers.length;
    }
    if (parts + left === 0) io.stdout.write('nothing to remove\n');
    return left === 0 ? 0 : 1;
  },
});
