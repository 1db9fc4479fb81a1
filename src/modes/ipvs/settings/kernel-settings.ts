import { type Config, IpvsSocket } from '../../../kernel/ipvs/index.ts';
import type { NetworkNamespace } from '../../../kernel/netns.ts';
import { ensureIpvsSysctls } from './sysctls.ts';

export interface PrepareOptions {
  /** Answer to ARP only for addresses of the link that is asked. */
  readonly strictARP?: boolean | undefined;
  /** Seconds that connections are remembered; 0 leaves the kernel's. */
  readonly timeouts?: Config | undefined;
  readonly namespace?: NetworkNamespace | undefined;
}

/** Sets what the mode needs of the kernel's settings. Only the time-outs may fail without harm: that is told. */
export function prepareIpvs(options: PrepareOptions, failed: (what: string, error: unknown) => void): void {
  const { strictARP = false, timeouts, namespace } = options;
  const socket = IpvsSocket.open({ namespace });
  try {
    // Without the module the settings are not there; this says so in better words than a missing file.
    socket.info();
    ensureIpvsSysctls(strictARP, namespace);
    if (timeouts && Math.max(timeouts.tcp, timeouts.tcpFin, timeouts.udp) > 0) setTimeouts(socket, timeouts, failed);
  } finally {
    socket.close();
  }
}

function setTimeouts(socket: IpvsSocket, timeouts: Config, failed: (what: string, error: unknown) => void): void {
  try {
    socket.setConfig(timeouts);
  } catch (error) {
    failed('setting the time-outs of ipvs', error);
  }
}
