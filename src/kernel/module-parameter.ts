import { readFileSync, writeFileSync } from 'node:fs';
import { fileError } from './file-error.ts';

/** A numeric parameter of a kernel module. It holds for the whole machine. */
export interface ModuleParameter {
  readonly module: string;
  readonly parameter: string;
}

export function readModuleParameter(parameter: ModuleParameter): number {
  return attempt('read', parameter, path => Number(readFileSync(path, 'utf8').trim()));
}

export function writeModuleParameter(parameter: ModuleParameter, value: number): void {
  attempt(`set ${value} as`, parameter, path => writeFileSync(path, `${value}`, { flag: 'r+' }));
}

function attempt<T>(operation: string, { module, parameter }: ModuleParameter, work: (path: string) => T): T {
  try {
    return work(`/sys/module/${module}/parameters/${parameter}`);
  } catch (error) {
    throw fileError(`${operation} parameter ${parameter} of module ${module}`, error);
  }
}
