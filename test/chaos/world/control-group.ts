import { mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hierarchyFolder } from '../../../src/kernel/bpf/cgroup.ts';

const PREFIX = 'pointsman-chaos-';
const TRIES = 50;
const PAUSE_MS = 50;

/** A control group of the run's own. ebpf mode serves only the processes in it, and no other process of the machine. */
export class ControlGroup {
  readonly path: string;

  constructor() {
    const root = hierarchyFolder();
    if (root === undefined) throw new Error('no cgroup2 file system is mounted, and ebpf mode needs one');
    removeAbandoned(root);
    this.path = join(root, `${PREFIX}${process.pid}`);
    mkdirSync(this.path);
  }

  take(pid: number): void {
    writeFileSync(join(this.path, 'cgroup.procs'), String(pid));
  }

  /** The processes in the group must have ended. The kernel keeps the group some moments longer. */
  async close(): Promise<void> {
    for (let tries = TRIES; tries > 0; tries--) {
      if (remove(this.path)) return;
      await delay(PAUSE_MS);
    }
  }
}

/** A run that is killed leaves an empty group behind. */
function removeAbandoned(root: string): void {
  for (const name of readdirSync(root).filter(name => name.startsWith(PREFIX))) {
    if (!isRunning(Number(name.slice(PREFIX.length)))) remove(join(root, name));
  }
}

function remove(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch {
    return false;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
