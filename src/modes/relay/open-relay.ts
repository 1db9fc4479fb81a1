import type { NetworkNamespace } from '../../kernel/netns.ts';
import { descriptorLimit, EventPoll } from '../../kernel/sockets/index.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ModeEvents } from '../mode.ts';
import { FailureReporter } from './failure-reporter.ts';
import { RelayResources } from './relay-resources.ts';

export interface RelayOptions {
  /** The mode forgets a UDP client that is silent for this long. */
  readonly udpIdleTimeoutMs: number;
  /** How many descriptors the mode may use. The default is seven eighths of the limit of the process. */
  readonly maxDescriptors?: number | undefined;
  readonly maxUdpClients?: number | undefined;
  readonly keepAliveSeconds?: number | undefined;
}

/** What a mode owns that relays. */
export interface OpenRelay {
  readonly resources: RelayResources;
  close(): void;
}

const KEEP_ALIVE_SECONDS = 15;
const MAX_UDP_CLIENTS = 8192;

export function openRelay(
  options: RelayOptions,
  namespace: NetworkNamespace | undefined,
  clock: Clock,
  events: Pick<ModeEvents, 'failed'>,
): OpenRelay {
  const reporter = new FailureReporter(clock, (action, error) => events.failed({ action, error }));
  const limit = descriptorLimit();
  const poll = new EventPoll(error => reporter.report('handle a connection', error));
  try {
    const resources = new RelayResources({
      namespace,
      poll,
      clock,
      reporter,
      stream: { keepAliveSeconds: options.keepAliveSeconds ?? KEEP_ALIVE_SECONDS },
      udpIdleTimeoutMs: options.udpIdleTimeoutMs,
      maxDescriptors: options.maxDescriptors ?? limit - (limit >> 3),
      maxUdpClients: options.maxUdpClients ?? MAX_UDP_CLIENTS,
    });
    return {
      resources,
      close() {
        resources.close();
        poll.close();
      },
    };
  } catch (error) {
    poll.close();
    throw error;
  }
}
