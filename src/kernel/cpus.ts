import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const DEVICES = '/sys/devices/system';

/**
 * The logical CPUs of the machine that are online, not those that a container may use: limits of the kernel that are
 * sized by them hold for the whole machine.
 */
export function machineCpus(devices = DEVICES): number {
  const nodes = numbered(`${devices}/node`, 'node');
  const folders = nodes.length > 0 ? nodes : [`${devices}/cpu`];
  const cpus = folders.flatMap(folder => numbered(folder, 'cpu')).filter(isOnline);
  return cpus.length > 0 ? cpus.length : availableParallelism();
}

function numbered(folder: string, prefix: string): readonly string[] {
  if (!existsSync(folder)) return [];
  const name = new RegExp(`^${prefix}[0-9]+$`);
  return readdirSync(folder)
    .filter(entry => name.test(entry))
    .map(entry => `${folder}/${entry}`);
}

function isOnline(cpu: string): boolean {
  const online = `${cpu}/online`;
  // The first CPU of most machines cannot be taken offline and has no such file.
  if (existsSync(online) && readFileSync(online, 'utf8').trim() === '0') return false;
  return existsSync(`${cpu}/topology/core_id`);
}
