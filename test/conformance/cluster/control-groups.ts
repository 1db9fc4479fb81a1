import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const ROOT = '/sys/fs/cgroup';
const REMOVAL_TRIES = 50;
const REMOVAL_PAUSE_MS = 100;
/** The groups of these files are empty at first, and no process can enter such a group. */
const NEEDED_VALUES = ['cpuset.mems', 'cpuset.cpus'];

/** The control group of a node, in each hierarchy of the machine. The node's pods are in it. */
export class NodeControlGroup {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
    for (const hierarchy of hierarchies()) {
      mkdirSync(`${hierarchy}/${name}`, { recursive: true });
      for (const file of NEEDED_VALUES) {
        if (!existsSync(`${hierarchy}/${file}`)) continue;
        writeFileSync(`${hierarchy}/${name}/${file}`, readFileSync(`${hierarchy}/${file}`));
      }
    }
  }

  /** Its path below the root of each hierarchy. */
  get path(): string {
    return `/${this.#name}`;
  }

  async remove(): Promise<void> {
    await removeControlGroup(this.#name);
  }
}

/** The processes of the node must have ended. The kernel may take a moment to notice it. */
export async function removeControlGroup(name: string): Promise<void> {
  for (const hierarchy of hierarchies()) {
    for (let attempt = 0; attempt < REMOVAL_TRIES; attempt++) {
      if (removeTree(`${hierarchy}/${name}`)) break;
      await delay(REMOVAL_PAUSE_MS);
    }
  }
}

/** The folder of a group in the hierarchy of version 2, which ebpf mode needs. */
export function unifiedPath(name: string): string {
  return `${isUnified() ? ROOT : `${ROOT}/unified`}/${name}`;
}

function isUnified(): boolean {
  return existsSync(`${ROOT}/cgroup.controllers`);
}

function hierarchies(): readonly string[] {
  if (isUnified()) return [ROOT];
  return readdirSync(ROOT, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ name }) => `${ROOT}/${name}`);
}

/** Removes the groups below first. Returns whether all are gone. */
function removeTree(path: string): boolean {
  if (!existsSync(path)) return true;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) removeTree(`${path}/${entry.name}`);
  }
  try {
    rmdirSync(path);
    return true;
  } catch {
    return false;
  }
}
