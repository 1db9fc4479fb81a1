import { closeRaw, portOf } from '../../../kernel/sockets/index.ts';
import { Intake, type Step } from './backlog-reader.ts';
import type { Traffic } from './relay-resources.ts';

/** A socket at a proxy port: watched, counted, and closed once. */
export class ListeningSocket {
  readonly fd: number;
  readonly port: number;
  readonly #traffic: Traffic;
  readonly #intake: Intake;
  #closed = false;

  /** Owns the descriptor, and closes it if it cannot be watched. `step` takes one of what waits there. */
  constructor(traffic: Traffic, fd: number, stepsATurn: number, step: () => Step) {
    const { poll, clock } = traffic.options;
    this.fd = fd;
    this.#traffic = traffic;
    this.#intake = new Intake({ poll, clock, stepsATurn, step });
    try {
      this.port = portOf(fd);
      poll.add(fd, () => this.#intake.run());
    } catch (error) {
      closeRaw(fd);
      throw error;
    }
    traffic.descriptors += 1;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#intake.close();
    this.#traffic.options.poll.remove(this.fd);
    this.#traffic.descriptors -= 1;
    closeRaw(this.fd);
  }
}
