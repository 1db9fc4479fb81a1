import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const ONLINE = '/sys/devices/system/cpu/online';

/**
 * The number of logical CPUs of the machine that are online. This is not the number that a container may use, because
 * the kernel limits that depend on it hold for the whole machine.
 */
export function countMachineCpus(file = ONLINE): number {
  const count = existsSync(file) ? countListed(readFileSync(file, 'utf8').trim()) : 0;
  return count > 0 ? count : availableParallelism();
}

/** Counts the CPUs of a list such as `0-5,34`. Returns 0 for another text. */
function countListed(list: string): number {
  if (!/^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(list)) return 0;
  return list
    .split(',')
    .map(range => range.split('-').map(Number))
    .reduce((sum, [first = 0, last = first]) => sum + last - first + 1, 0);
}
