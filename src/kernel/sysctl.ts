import { readFileSync, writeFileSync } from 'node:fs';
import { KernelError } from './errors.ts';
import { fileError } from './file-error.ts';
import type { NetworkNamespace } from './netns.ts';

/**
 * Kernel settings, named by their path under `/proc/sys`: `net/ipv4/ip_forward`. Dots are no separators, for a link's
 * name may have some: `net/ipv4/conf/eth0.100/rp_filter`. Those of the network belong to the network namespace that
 * the thread is in, so every access is synchronous.
 */
const FOLDER = '/proc/sys';

/** The setting's text without its line end. Several values are parted by tabs. */
export function readSysctl(name: string, namespace?: NetworkNamespace): string {
  return attempt(`read sysctl ${name}`, namespace, () => readFileSync(pathOf(name), 'utf8').trim());
}

export function writeSysctl(name: string, value: string | number, namespace?: NetworkNamespace): void {
  attempt(`can't set sysctl ${name} to ${value}`, namespace, () => {
    // Without the flag the kernel is asked to create a setting that is missing, and says EACCES.
    writeFileSync(pathOf(name), `${value}`, { flag: 'r+' });
    return '';
  });
}

/** Writes a setting only if it has another value. One that cannot be read counts as other. */
export function ensureSysctl(
  name: string,
  value: string | number,
  namespace?: NetworkNamespace,
): 'unchanged' | 'changed' {
  if (readOrNothing(name, namespace) === `${value}`) return 'unchanged';
  writeSysctl(name, value, namespace);
  return 'changed';
}

function readOrNothing(name: string, namespace: NetworkNamespace | undefined): string | undefined {
  try {
    return readSysctl(name, namespace);
  } catch (error) {
    if (error instanceof KernelError) return undefined;
    throw error;
  }
}

function pathOf(name: string): string {
  const parts = name.split('/');
  if (parts.some(part => part === '' || part === '.' || part === '..')) throw new RangeError(`not a sysctl: ${name}`);
  return `${FOLDER}/${name}`;
}

function attempt(operation: string, namespace: NetworkNamespace | undefined, work: () => string): string {
  try {
    return namespace ? namespace.run(work) : work();
  } catch (error) {
    if (error instanceof RangeError || error instanceof KernelError) throw error;
    throw fileError(operation, error);
  }
}
