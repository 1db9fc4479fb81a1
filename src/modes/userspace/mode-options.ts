import type { NetworkNamespace } from '../../kernel/netns.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Ip } from '../../net/index.ts';
import type { ProgramOptions } from '../iptables-programs.ts';
import type { ModeEvents } from '../mode.ts';
import type { PortRange } from './port-allocator.ts';

export interface UserspaceModeOptions {
  readonly namespace?: NetworkNamespace | undefined;
  readonly clock?: Clock;
  readonly events: ModeEvents;
  /** The address that proxies listen at in its family, `bindAddress`; all addresses unless told. Not a loopback one. */
  readonly listenIP?: Ip | undefined;
  /** The ports that proxies listen at, `portRange`; those that the kernel chooses unless told. */
  readonly portRange?: PortRange | undefined;
  /** How long a client of UDP may be silent before it is forgotten, `udpIdleTimeout`. */
  readonly udpIdleTimeoutMs?: number | undefined;
  /** How long connections may go on when the mode is closed. */
  readonly drainMs?: number | undefined;
  /** How long it may take then until the rules refuse; 5 s unless told. */
  readonly refuseMs?: number | undefined;
  /** How many descriptors there may be for proxying; seven eighths of what the process may have unless told. */
  readonly maxDescriptors?: number | undefined;
  readonly maxUdpClients?: number | undefined;
  readonly keepAliveSeconds?: number | undefined;
  /** How iptables is run. */
  readonly iptables?: Omit<ProgramOptions, 'namespace'> | undefined;
}
