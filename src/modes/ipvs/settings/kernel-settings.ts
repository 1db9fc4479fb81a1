import { type Config, IpvsSocket } from '../../../kernel/ipvs/index.ts';
import type { NetworkNamespace } from '../../../kernel/netns.ts';
import type { IpvsOptions } from './options.ts';
import { ensureIpvsSysctls } from './sysctls.ts';

export interface KernelSettings extends Pick<IpvsOptions, 'strictARP' | 'timeouts'> {
  readonly namespace?: NetworkNamespace | undefined;
}

/** Sets the kernel's settings. `onTimeoutsError`: the mode works without the timeouts. Every other failure throws. */
export function applyKernelSettings(settings: KernelSettings, onTimeoutsError: (error: unknown) => void): void {
  const { strictARP = false, timeouts, namespace } = settings;
  const socket = IpvsSocket.open({ namespace });
  try {
    // Without the module there are no sysctls. This error explains that better than a missing file does.
    socket.info();
    ensureIpvsSysctls(strictARP, namespace);
    if (timeouts && Math.max(timeouts.tcp, timeouts.tcpFin, timeouts.udp) > 0) {
      setTimeouts(socket, timeouts, onTimeoutsError);
    }
  } finally {
    socket.close();
  }
}

function setTimeouts(socket: IpvsSocket, timeouts: Config, onError: (error: unknown) => void): void {
  try {
    socket.setConfig(timeouts);
  } catch (error) {
    onError(error);
  }
}
