import { hasIPv6 } from '../kernel/ipv6.ts';
import type { Family } from '../net/index.ts';
import type { Logger } from '../observe/logging/index.ts';
import { StartupError } from './startup-error.ts';

/** What this machine can serve. */
export interface Platform {
  /** The primary family first. */
  readonly families: readonly Family[];
  readonly dualStack: boolean;
}

/**
 * Both families are served wherever the machine can, whatever addresses the Node has: a cluster may get the other one
 * later. `offered` is what the mode can do here.
 */
export function choosePlatform(
  primary: Family,
  offered: readonly Family[],
  log: Logger,
  ipv6Works: boolean = hasIPv6(),
): Platform {
  const families = offered.filter(family => family === 'IPv4' || ipv6Works);
  if (!families.includes(primary))
    throw new StartupError(`no support for primary IP family ${JSON.stringify(primary)}`);
  const dualStack = families.length > 1;
  if (dualStack) {
    log.info('server', 'kube-proxy running in dual-stack mode', { 'primary ipFamily': primary });
    return { families: [primary, ...families.filter(family => family !== primary)], dualStack };
  }
  log.info('server', 'kube-proxy running in single-stack mode', { ipFamily: primary });
  return { families: [primary], dualStack };
}
