import { ConntrackSocket } from '../../../kernel/conntrack/index.ts';
import type { NetworkNamespace } from '../../../kernel/netns.ts';
import { descriptorLimit, EventPoll } from '../../../kernel/sockets/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { ModeEvents } from '../../mode.ts';
import { AddressReader } from '../portals/machine-addresses.ts';
import { FailureReporter } from './failure-reporter.ts';
import { RelayResources } from './relay-resources.ts';

export interface SocketOptions {
  /** `udpIdleTimeout`: the mode forgets a UDP client that is silent for this long. */
  readonly udpIdleTimeoutMs?: number | undefined;
  /** How many descriptors the mode may use. The default is seven eighths of the limit of the process. */
  readonly maxDescriptors?: number | undefined;
  readonly maxUdpClients?: number | undefined;
  readonly keepAliveSeconds?: number | undefined;
}

const UDP_IDLE_TIMEOUT_MS = 250;
const KEEP_ALIVE_SECONDS = 15;
const MAX_UDP_CLIENTS = 8192;

/** What both families of a mode share. */
export class SharedSockets {
  readonly resources: RelayResources;
  readonly addresses: AddressReader;
  readonly conntrack: ConntrackSocket;
  readonly #opened: { close(): void }[] = [];

  /** Opens all sockets or none: a socket that stays open would keep the process alive. */
  constructor(
    options: SocketOptions,
    namespace: NetworkNamespace | undefined,
    clock: Clock,
    events: Pick<ModeEvents, 'failed'>,
  ) {
    const reporter = new FailureReporter(clock, (action, error) => events.failed({ action, error }));
    const limit = descriptorLimit();
    try {
      const poll = this.#keep(new EventPoll(error => reporter.report('handle a connection', error)));
      this.resources = this.#keep(
        new RelayResources({
          namespace,
          poll,
          clock,
          reporter,
          stream: { keepAliveSeconds: options.keepAliveSeconds ?? KEEP_ALIVE_SECONDS },
          udpIdleTimeoutMs: options.udpIdleTimeoutMs ?? UDP_IDLE_TIMEOUT_MS,
          maxDescriptors: options.maxDescriptors ?? limit - (limit >> 3),
          maxUdpClients: options.maxUdpClients ?? MAX_UDP_CLIENTS,
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
    for (const opened of this.#opened.splice(0)) opened.close();
  }

  #keep<T extends { close(): void }>(opened: T): T {
    this.#opened.push(opened);
    return opened;
  }
}
