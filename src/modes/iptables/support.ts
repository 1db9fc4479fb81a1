import { settingErrorText } from '../../kernel/errors.ts';
import { IptablesError, type IptablesRun, lockWaitText } from '../../kernel/iptables/index.ts';
import { FatalError } from '../../lib/fatal-error.ts';
import { parseNodePortAddresses, resolveNodePortKeywords } from '../../model/index.ts';
import type { StartContext } from '../descriptor.ts';
import { hasLocalhostNodePorts, ROUTE_LOCALNET_NOTICE, routeLocalnet } from './machine/sysctls.ts';
import type { IptablesOptions } from './mode.ts';

/** Sets route_localnet before the start, so that `--init-only` can do it for a proxy without the privilege. */
export async function prepareIptables(
  { localhostNodePorts = true }: IptablesOptions,
  { configuration, nodeIPs, families, log }: StartContext,
): Promise<void> {
  if (!families.includes('IPv4')) return;
  const addresses = parseNodePortAddresses(
    'IPv4',
    resolveNodePortKeywords(configuration.nodePortAddresses ?? [], nodeIPs),
  );
  if (!hasLocalhostNodePorts('IPv4', localhostNodePorts, addresses)) return;
  log.info('iptables', ROUTE_LOCALNET_NOTICE, { ipFamily: 'IPv4' });
  try {
    routeLocalnet();
  } catch (error) {
    const family = families.length > 1 ? 'unable to create ipv4 proxier: ' : '';
    throw new FatalError(`unable to create proxier: ${family}${settingErrorText(error)}`);
  }
}

/** Shorter waits for the xtables lock are usual. */
const LONG_WAIT_MS = 1000;

/** The notice that a program waited long for the xtables lock, and which process held it. */
export function longLockWait({ lockWait, outcome, command }: IptablesRun): string | undefined {
  // A program that gave up says so in its error.
  if (!lockWait || lockWait.waitedMs < LONG_WAIT_MS || outcome instanceof IptablesError) return undefined;
  return `The program ${command} ${lockWaitText(lockWait)}`;
}
