import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { nodeNames } from './addresses.ts';
import { removeControlGroup } from './control-groups.ts';
import { run } from './run.ts';

const PREFIX = 'pointsman-conformance-';

/** The folder of the cluster that a process runs. */
export function clusterFolder(pid: number): string {
  return `${tmpdir()}/${PREFIX}${pid}`;
}

/** Removes the files and control groups of clusters whose process was killed. Their other processes ended with it. */
export async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter(name => name.startsWith(PREFIX))) {
    const pid = Number(name.slice(PREFIX.length));
    if (!Number.isInteger(pid) || existsSync(`/proc/${pid}`)) continue;
    for (const node of nodeNames(pid)) await removeControlGroup(node);
    run('rm', ['-rf', clusterFolder(pid)]);
  }
}
