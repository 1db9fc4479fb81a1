import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Tests attach BPF programs to a control group of their own process, never to the root: the machine has other users.

const PREFIX = 'pointsman-test-';
const MAX_TRIES = 100;
const PAUSE_MS = 20;

let group: string | undefined;

/**
 * The control group of this process. The first caller makes it below the root and moves the process there. All tests of
 * the process share it, so a program that is attached to it must serve only the namespaces of its own test. The group is
 * removed when the process exits.
 */
export function testControlGroup(): string {
  group ??= enterGroup();
  return group;
}

/** Runs the work with a descriptor of a control group. */
export function withControlGroup<T>(path: string, work: (descriptor: number) => T): T {
  const descriptor = openSync(path, 'r');
  try {
    return work(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Runs synchronous work with this process alone in a control group. Programs that serve all namespaces can be attached
 * there, because no other test runs meanwhile.
 */
export function aloneInControlGroup<T>(work: (path: string) => T): T {
  const home = testControlGroup();
  const path = join(home, 'alone');
  mkdirSync(path);
  try {
    moveTo(path, process.pid);
    return work(path);
  } finally {
    leaveGroup(path, home);
  }
}

function enterGroup(): string {
  const root = hierarchyRoot();
  removeAbandoned(root);
  const path = join(root, `${PREFIX}${process.pid}`);
  const home = join(root, ownGroup());
  mkdirSync(path);
  process.once('exit', () => leaveGroup(path, home));
  moveTo(path, process.pid);
  return path;
}

/** Where the machine has the hierarchy of version 2. */
function hierarchyRoot(): string {
  const [, path] = /^\S+ (\S+) cgroup2 /m.exec(readFileSync('/proc/self/mounts', 'utf8')) ?? [];
  if (path === undefined) throw new Error('no cgroup2 file system is mounted');
  return path;
}

/** The control group that this process is in, from the root of the hierarchy. */
function ownGroup(): string {
  const [, path] = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8')) ?? [];
  if (path === undefined) throw new Error('this process is in no control group of version 2');
  return path;
}

function moveTo(path: string, pid: number): void {
  writeFileSync(join(path, 'cgroup.procs'), `${pid}`);
}

/**
 * Moves all processes out, also children of the tests, and removes the group. The kernel keeps a group some moments
 * longer if a process in it ends just now.
 */
function leaveGroup(path: string, home: string): void {
  for (let i = 0; i < MAX_TRIES; i++) {
    for (const pid of readFileSync(join(path, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean)) {
      ignoreErrors(() => moveTo(home, Number(pid)));
    }
    if (ignoreErrors(() => rmdirSync(path))) return;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  }
}

/** Returns false if the work failed: a process ended meanwhile, or another one removed the group. */
function ignoreErrors(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

/** A process that is killed leaves its group behind. */
function removeAbandoned(root: string): void {
  for (const name of readdirSync(root).filter(name => name.startsWith(PREFIX))) {
    if (isRunning(Number(name.slice(PREFIX.length)))) continue;
    ignoreErrors(() => rmdirSync(join(root, name)));
  }
}

function isRunning(pid: number): boolean {
  return ignoreErrors(() => process.kill(pid, 0));
}
