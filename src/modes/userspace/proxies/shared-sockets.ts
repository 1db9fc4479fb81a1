import { ConntrackSocket } from '../../../kernel/conntrack/index.ts';
import type { NetworkNamespace } from '../../../kernel/netns.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { ModeEvents } from '../../mode.ts';
import { openRelay, type RelayOptions, type RelayResources } from '../../relay/index.ts';
import { AddressReader } from '../portals/machine-addresses.ts';

export interface SocketOptions extends Omit<RelayOptions, 'udpIdleTimeoutMs'> {
  /** `udpIdleTimeout`: the mode forgets a UDP client that is silent for this long. */
  readonly udpIdleTimeoutMs?: number | undefined;
}

const UDP_IDLE_TIMEOUT_MS = 250;

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
    const { udpIdleTimeoutMs = UDP_IDLE_TIMEOUT_MS } = options;
    try {
      const relay = this.#keep(openRelay({ ...options, udpIdleTimeoutMs }, namespace, clock, events));
      this.resources = relay.resources;
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
