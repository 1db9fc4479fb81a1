import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorText } from '../../lib/error-text.ts';
import { hierarchyFolder } from './cgroup.ts';

const NAME = /^pointsman-demo-(\d+)$/;

/**
 * A control group that only this process is in, below the one that it was in before. Programs that are attached there
 * see no socket of any other process.
 */
export class OwnControlGroup {
  readonly path: string;
  readonly #former: string;
  readonly #leave = () => this.leave();

  private constructor(path: string, former: string) {
    this.path = path;
    this.#former = former;
  }

  /** Moves this process into a new group, or says why it cannot. */
  static enter(): OwnControlGroup | { readonly missing: string } {
    const hierarchy = hierarchyFolder();
    const own = ownPath();
    if (hierarchy === undefined || own === undefined) return { missing: 'no cgroup2 file system is mounted' };
    const former = join(hierarchy, own);
    const path = join(former, `pointsman-demo-${process.pid}`);
    try {
      removeAbandoned(former);
      mkdirSync(path);
    } catch (error) {
      return { missing: `this process cannot make a control group, which needs root: ${errorText(error)}` };
    }
    const group = new OwnControlGroup(path, former);
    process.once('exit', group.#leave);
    move(path);
    return group;
  }

  /** Moves this process back and removes the group. */
  leave(): void {
    process.off('exit', this.#leave);
    move(this.#former);
    rmdirSync(this.path);
  }
}

/** Where this process is in the hierarchy. Undefined if it is in no group of version 2. */
function ownPath(): string | undefined {
  return /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
}

function move(group: string): void {
  writeFileSync(join(group, 'cgroup.procs'), `${process.pid}`);
}

/** A process that is killed leaves its group behind, without any process in it. */
function removeAbandoned(folder: string): void {
  for (const name of readdirSync(folder)) {
    const [, pid] = NAME.exec(name) ?? [];
    // The group of a running process is empty for a moment, before the process enters it.
    if (pid === undefined || isRunning(Number(pid))) continue;
    try {
      rmdirSync(join(folder, name));
    } catch {
      // Another process removed it, or children of the former process are still in it.
    }
  }
}

function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}
