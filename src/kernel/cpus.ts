import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const ONLINE = '/sys/devices/system/cpu/online';
const POSSIBLE = '/sys/devices/system/cpu/possible';

/**
 * The number of logical CPUs of the machine that are online. This is not the number that a container may use, because
 * the kernel limits that depend on it hold for the whole machine.
 */
export function countMachineCpus(file = ONLINE): number {
  return countIn(file) ?? availableParallelism();
}

/** The number of CPUs that the machine may ever have. The kernel keeps a value for each of them in a per-CPU map. */
export function countPossibleCpus(file = POSSIBLE): number {
  const count = countIn(file);
  if (count === undefined) throw new Error(`${file} has no list of CPUs`);
  return count;
}

function countIn(file: string): number | undefined {
  const count = existsSync(file) ? countListed(readFileSync(file, 'utf8').trim()) : 0;
  return count > 0 ? count : undefined;
}

/** Counts the CPUs of a list such as `0-5,34`. Returns 0 for another text. */
function countListed(list: string): number {
  if (!/^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(list)) return 0;
  return list
    .split(',')
    .map(range => range.split('-').map(Number))
    .reduce((sum, [first = 0, last = first]) => sum + last - first + 1, 0);
}
