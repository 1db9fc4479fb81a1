import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const DEVICES = '/sys/devices/system';

/**
 * The number of logical CPUs of the machine that are online. This is not the number that a container may use, because
 * the kernel limits that depend on it hold for the whole machine.
 */
export function countMachineCpus(devices = DEVICES): number {
  const nodes = listNumbered(`${devices}/node`, 'node');
  const folders = nodes.length > 0 ? nodes : [`${devices}/cpu`];
  const cpus = folders.flatMap(folder => listNumbered(folder, 'cpu')).filter(isOnline);
  return cpus.length > 0 ? cpus.length : availableParallelism();
}

/** The paths of the entries that are named by the prefix and a number: `node0`, `node1`. */
function listNumbered(folder: string, prefix: string): readonly string[] {
  if (!existsSync(folder)) return [];
  const name = new RegExp(`^${prefix}[0-9]+$`);
  return readdirSync(folder)
    .filter(entry => name.test(entry))
    .map(entry => `${folder}/${entry}`);
}

function isOnline(cpu: string): boolean {
  const online = `${cpu}/online`;
  // Most machines cannot take their first CPU offline. The kernel gives such a CPU no `online` file.
  if (existsSync(online) && readFileSync(online, 'utf8').trim() === '0') return false;
  return existsSync(`${cpu}/topology/core_id`);
}
