import { setImmediate as nextTurn } from 'node:timers/promises';
import { KernelError } from '../kernel/errors.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';
import { readSysctl } from '../kernel/sysctl.ts';

/** One object that the mode wants in the kernel for a service port, that the kernel has, or both. */
export interface KernelEntry {
  /**
   * `table`, `chain`, `rule`, `set`, `element`, `virtual server`, `real server`, `set entry`, `address`, `sysctl`,
   * `listener`, `link`, `pool`.
   */
  readonly kind: string;
  /** Where it is, in the words of the tool that lists it: `map ip kube-proxy service-numbers`, `chain nat KUBE-SVC-…`. */
  readonly place: string;
  /** What the mode wants there, as that tool prints it. Undefined if the mode wants nothing like it. */
  readonly wanted: string | undefined;
  /** What the kernel has there, as that tool prints it. Undefined if the kernel lacks it. */
  readonly found: string | undefined;
  /** The packets or connections that the kernel counted here, if it counts them. */
  readonly counted?: number | undefined;
}

/** A client that session affinity leads to one endpoint. */
export interface PinnedClient {
  /** Its address. Where all processes of a network namespace are one client: `node`, or `namespace` and its cookie. */
  readonly client: string;
  /** The endpoint's address and port, as the plan writes it: `10.244.1.2:8080`. */
  readonly endpoint: string;
  /** When affinity ends, if the client does not come back. Undefined if the kernel does not say. */
  readonly secondsLeft: number | undefined;
}

/** What the kernel holds for one service port, read just now, beside what the mode wants. */
export interface KernelReading {
  readonly entries: readonly KernelEntry[];
  /** Empty without session affinity. */
  readonly affinity: readonly PinnedClient[];
  /** The ports of the process that gets the connections, by policy, if a process relays them. */
  readonly relayPorts?: Readonly<Record<string, number>> | undefined;
  /** Why the mode did not read everything, or why the entries may be of different moments. Undefined otherwise. */
  readonly incomplete?: string | undefined;
}

export type EntryState = 'equal' | 'missing' | 'different' | 'unexpected';

export function entryState({ wanted, found }: KernelEntry): EntryState {
  if (wanted === found) return 'equal';
  if (found === undefined) return 'missing';
  return wanted === undefined ? 'unexpected' : 'different';
}

/** The most entries, and the most pinned clients, of one reading. */
export const MAX_ENTRIES = 5000;
export const MAX_PINNED_CLIENTS = 1000;
/** The longest time that a reading may take, in milliseconds. */
const MAX_MS = 2000;
/** How many objects a mode reads before it lets other work run. */
const OBJECTS_PER_TURN = 20;

/** Limits what a reading costs. */
export class ReadBudget {
  readonly #deadline: number;
  readonly #maxEntries: number;
  #read = 0;
  #spent: string | undefined;

  constructor(maxEntries = MAX_ENTRIES, maxMs = MAX_MS) {
    this.#maxEntries = maxEntries;
    this.#deadline = performance.now() + maxMs;
  }

  /** Why the reading stopped. Undefined if it read everything. */
  get spent(): string | undefined {
    return this.#spent;
  }

  /** Counts one more object. Returns false if the reading must stop. Lets other work run from time to time. */
  async spend(): Promise<boolean> {
    if (this.#spent !== undefined) return false;
    if (++this.#read % OBJECTS_PER_TURN === 0) await nextTurn();
    if (this.#read > this.#maxEntries) this.#spent = `the mode read only the first ${this.#maxEntries} objects`;
    else if (performance.now() > this.#deadline) this.#spent = 'the kernel took too long to answer';
    return this.#spent === undefined;
  }
}

/**
 * Runs a reading during which nothing should change. `stamp` returns a value that every change alters. After a change the
 * reading runs once more; after a second one it is what it is, and says so.
 */
export async function readTwiceAtMost(
  stamp: () => unknown,
  read: () => Promise<KernelReading>,
): Promise<KernelReading> {
  for (let attempt = 1; ; attempt++) {
    const before = stamp();
    const reading = await read();
    if (stamp() === before) return reading;
    if (attempt === 2) return { ...reading, incomplete: reading.incomplete ?? CHANGED_MEANWHILE };
  }
}

/** A reading that failed, and why. */
export function emptyReading(incomplete: string): KernelReading {
  return { entries: [], affinity: [], incomplete };
}

export const CHANGED_MEANWHILE = 'rules changed while the mode read them, twice; read again for an exact answer';

/** A kernel setting that must have a value, as `sysctl` prints it. `name` is its path: `net/ipv4/ip_forward`. */
export function sysctlEntry(name: string, wanted: string, namespace?: NetworkNamespace): KernelEntry {
  const line = (value: string) => `${name.replaceAll('/', '.')} = ${value}`;
  return { kind: 'sysctl', place: 'sysctl', wanted: line(wanted), found: foundSysctl(name, line, namespace) };
}

function foundSysctl(name: string, line: (value: string) => string, namespace?: NetworkNamespace): string | undefined {
  try {
    return line(readSysctl(name, namespace));
  } catch (error) {
    if (error instanceof KernelError) return undefined;
    throw error;
  }
}
