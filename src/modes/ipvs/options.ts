import type { Configuration } from '../../config/index.ts';
import { StartupError } from '../../daemon/startup-error.ts';
import { toMilliseconds } from '../../lib/duration.ts';
import { errorText } from '../../lib/error-text.ts';
import type { Logger } from '../../observe/logging/index.ts';
import { IPVS_DEPRECATION, type IpvsConfig, ipvsUnavailable, prepareIpvs } from './index.ts';

/** The configuration of ipvs mode as the mode has it. */
export function ipvsConfig({ ipvs }: Configuration): IpvsConfig {
  const seconds = (duration: Configuration['ipvs']['tcpTimeout']) => Math.floor(toMilliseconds(duration) / 1000);
  return {
    scheduler: ipvs.scheduler,
    strictARP: ipvs.strictARP,
    excludeCIDRs: ipvs.excludeCIDRs ?? [],
    timeouts: { tcp: seconds(ipvs.tcpTimeout), tcpFin: seconds(ipvs.tcpFinTimeout), udp: seconds(ipvs.udpTimeout) },
  };
}

/** Whether the machine can do ipvs mode; then what takes privileges is done. */
export async function prepareIpvsMode(configuration: Configuration, log: Logger): Promise<void> {
  const problem = await ipvsUnavailable(configuration.ipvs.scheduler);
  if (problem !== undefined) throw new FatalError(problem);
  log.error('server', IPVS_DEPRECATION.note);
  try {
    prepareIpvs(ipvsConfig(configuration), (what, error) =>
      log.error('ipvs', 'Failed', { what, err: errorText(error) }),
    );
  } catch (error) {
    throw new FatalError(`unable to create proxier: ${errorText(error)}`);
  }
}
