import { ConntrackSocket } from '../../../kernel/conntrack/index.ts';
import { descriptorLimit, EventPoll } from '../../../kernel/sockets/index.ts';
import { systemClock } from '../../../lib/clock.ts';
import { AddressReader } from '../portals/machine-addresses.ts';
import type { UserspaceModeOptions } from '../mode-options.ts';
import { Traffic } from './relay-resources.ts';
import { Trouble } from './failure-reporter.ts';

const UDP_IDLE_TIMEOUT_MS = 250;
const KEEP_ALIVE_SECONDS = 15;
const UDP_CLIENTS = 8192;

/** What a mode has open, whatever there is to proxy. */
export class Machinery {
  readonly traffic: Traffic;
  readonly addresses: AddressReader;
  readonly conntrack: ConntrackSocket;
  readonly #opened: { close(): void }[] = [];

  /** All of it, or nothing if a part cannot be had: one that is left would keep the process alive. */
  constructor(options: UserspaceModeOptions) {
    const { namespace, clock = systemClock, events } = options;
    const trouble = new Trouble(clock, (what, error) => events.failed(what, error));
    const limit = descriptorLimit();
    try {
      const poll = this.#keep(new EventPoll(error => trouble.note('handling a connection', error)));
      this.traffic = this.#keep(
        new Traffic({
          namespace,
          poll,
          clock,
          stream: { keepAliveSeconds: options.keepAliveSeconds ?? KEEP_ALIVE_SECONDS },
          udpIdleTimeoutMs: options.udpIdleTimeoutMs ?? UDP_IDLE_TIMEOUT_MS,
          maxDescriptors: options.maxDescriptors ?? limit - (limit >> 3),
          maxUdpClients: options.maxUdpClients ?? UDP_CLIENTS,
          trouble: (what, error) => trouble.note(what, error),
        }),
      );
      this.addresses = this.#keep(new AddressReader(namespace));
      this.conntrack = this.#keep(ConntrackSocket.open({ namespace }));
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    for (const each of this.#opened.splice(0)) each.close();
  }

  #keep<T extends { close(): void }>(opened: T): T {
    this.#opened.push(opened);
    return opened;
  }
}
