import { type Configuration, parsePortRange } from '../../config/index.ts';
import { toMilliseconds } from '../../lib/duration.ts';
import { parseIp } from '../../net/index.ts';
import type { UserspaceConfig } from '../../proxy/index.ts';

/** The configuration of userspace mode as the mode has it. */
export function userspaceConfig({ bindAddress, userspace }: Configuration): UserspaceConfig {
  const range = parsePortRange(userspace.portRange);
  const idle = userspace.udpIdleTimeout;
  return {
    listenIP: parseIp(bindAddress),
    portRange: range === 'any' ? undefined : range,
    udpIdleTimeoutMs: idle === undefined ? undefined : toMilliseconds(idle),
  };
}
