import { decodeProgrammedLease, leasePath, type ProgrammedLease } from '../../api/index.ts';
import { sleep } from '../../lib/sleep.ts';
import type { ApiReader } from './api-reader.ts';

const RETRY_MS = 1000;

/** The Leases of all nodes, as they are now. */
export class LeaseBook {
  readonly #reader: ApiReader;
  readonly #path: string;
  readonly #onChange: (node: string) => void;
  readonly #leases = new Map<string, ProgrammedLease>();

  /** Calls `onChange` for each node whose Lease is new, changed or gone. */
  constructor(reader: ApiReader, namespace: string, onChange: (node: string) => void) {
    this.#reader = reader;
    this.#path = leasePath(namespace);
    this.#onChange = onChange;
  }

  get(node: string): ProgrammedLease | undefined {
    return this.#leases.get(node);
  }

  /** Lists and then watches the Leases until the signal aborts. Rejects only if the first list fails. */
  async follow(signal: AbortSignal): Promise<void> {
    let version = await this.#list();
    while (!signal.aborted) {
      try {
        await this.#reader.watch(this.#path, version, (type, object) => this.#receive(type, object));
        version = await this.#list();
      } catch {
        // The server ended the watch, or is away for a moment. The command's own time limit ends the retries.
        await sleep(RETRY_MS, undefined, signal);
        if (!signal.aborted) version = await this.#list().catch(() => version);
      }
    }
  }

  async #list(): Promise<string> {
    const listed = new Set<string>();
    const version = await this.#reader.list(this.#path, {}, item => {
      const lease = decodeProgrammedLease(item);
      if (!lease) return;
      listed.add(lease.node);
      this.#leases.set(lease.node, lease);
    });
    for (const node of this.#leases.keys()) if (!listed.has(node)) this.#leases.delete(node);
    for (const node of listed) this.#onChange(node);
    return version;
  }

  #receive(type: unknown, object: unknown): void {
    const lease = decodeProgrammedLease(object);
    if (!lease) return;
    if (type === 'DELETED') this.#leases.delete(lease.node);
    else this.#leases.set(lease.node, lease);
    this.#onChange(lease.node);
  }
}
