import { readFileSync, writeFileSync } from 'node:fs';
import { KernelError } from './errors.ts';
import { fileError } from './file-error.ts';
import type { NetworkNamespace } from './netns.ts';

/**
 * Kernel settings, named by their path under `/proc/sys`: `net/ipv4/ip_forward`. A dot does not separate, because a
 * link's name may contain dots: `net/ipv4/conf/eth0.100/rp_filter`. The settings under `net` belong to the network
 * namespace that the thread is in, so every access is synchronous.
 */
const FOLDER = '/proc/sys';

/** The setting's text without the line end. Tabs separate several values. */
export function readSysctl(name: string, namespace?: NetworkNamespace): string {
  return attempt(`read sysctl ${name}`, namespace, () => readFileSync(pathOf(name), 'utf8').trim());
}

export function writeSysctl(name: string, value: string | number, namespace?: NetworkNamespace): void {
  attempt(`can't set sysctl ${name} to ${value}`, namespace, () => {
    // Without this flag Node asks the kernel to create a missing setting, and the kernel answers EACCES, not ENOENT.
    writeFileSync(pathOf(name), `${value}`, { flag: 'r+' });
    return '';
  });
}

/** Writes a setting only if its value differs. Also writes a setting that cannot be read. */
export function ensureSysctl(
  name: string,
  value: string | number,
  namespace?: NetworkNamespace,
): 'unchanged' | 'changed' {
  if (readOrUndefined(name, namespace) === `${value}`) return 'unchanged';
  writeSysctl(name, value, namespace);
  return 'changed';
}

function readOrUndefined(name: string, namespace: NetworkNamespace | undefined): string | undefined {
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
