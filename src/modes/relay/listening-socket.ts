import { closeRaw, portOf } from '../../kernel/sockets/index.ts';
import { BacklogReader, type BacklogReaderOptions } from './backlog-reader.ts';
import type { RelayResources } from './relay-resources.ts';

/** A socket at a proxy port. It counts as one descriptor, and is closed once. */
export class ListeningSocket {
  readonly fd: number;
  readonly port: number;
  readonly #resources: RelayResources;
  readonly #reader: BacklogReader;
  #closed = false;

  /** Owns the descriptor, and closes it if the poll cannot watch it. */
  constructor(resources: RelayResources, fd: number, reading: Pick<BacklogReaderOptions, 'stepsPerTurn' | 'step'>) {
    const { poll, clock } = resources.options;
    this.fd = fd;
    this.#resources = resources;
    this.#reader = new BacklogReader({ poll, clock, ...reading });
    try {
      this.port = portOf(fd);
      poll.add(fd, () => this.#reader.run());
    } catch (error) {
      closeRaw(fd);
      throw error;
    }
    resources.descriptors += 1;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#reader.close();
    this.#resources.options.poll.remove(this.fd);
    this.#resources.descriptors -= 1;
    closeRaw(this.fd);
  }
}
