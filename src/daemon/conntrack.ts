import type { ConntrackConfiguration } from '../config/index.ts';
import { countMachineCpus } from '../kernel/cpus.ts';
import { type ModuleParameter, readModuleParameter, writeModuleParameter } from '../kernel/module-parameter.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';
import { ensureSysctl } from '../kernel/sysctl.ts';
import { type Duration, formatDuration, SECOND, toMilliseconds } from '../lib/duration.ts';
import { errorText } from '../lib/error-text.ts';
import type { Logger } from '../observe/logging/index.ts';
import { type ConntrackConfig, conntrackMax, conntrackSysctls } from '../plan/index.ts';

const HASH_SIZE: ModuleParameter = { module: 'nf_conntrack', parameter: 'hashsize' };
/** Flows for each bucket of the kernel's hash table, as upstream has it. */
const FLOWS_PER_BUCKET = 4;

/**
 * Sets the size and the timeouts of the kernel's connection tracking. Most containers may not set them all. Then the
 * proxy logs what the operator can do, and goes on with the kernel's value.
 */
export function applyConntrack(configuration: ConntrackConfiguration, log: Logger, namespace?: NetworkNamespace): void {
  const cpus = countMachineCpus();
  const config = planConfig(configuration);
  logIgnoredTimeouts(configuration, log);
  for (const { name, value } of conntrackSysctls(config, cpus)) {
    attempt(log, name, value, () => {
      if (ensureSysctl(name, value, namespace) === 'changed')
        log.info('conntrack', 'Set sysctl', { entry: name, value });
    });
  }
  const buckets = Math.floor(conntrackMax(config, cpus) / FLOWS_PER_BUCKET);
  if (buckets > 0) attempt(log, 'hashsize of module nf_conntrack', buckets, () => growHashTable(buckets, log));
}

function planConfig(configuration: ConntrackConfiguration): ConntrackConfig {
  const ms = (duration: Duration | undefined) => (duration === undefined ? undefined : toMilliseconds(duration));
  return {
    maxPerCore: configuration.maxPerCore,
    min: configuration.min,
    tcpEstablishedTimeoutMs: ms(configuration.tcpEstablishedTimeout),
    tcpCloseWaitTimeoutMs: ms(configuration.tcpCloseWaitTimeout),
    tcpBeLiberal: configuration.tcpBeLiberal,
    udpTimeoutMs: ms(configuration.udpTimeout),
    udpStreamTimeoutMs: ms(configuration.udpStreamTimeout),
  };
}

/** The kernel counts in seconds. With a timeout of 0 seconds it would forget every flow at once. */
function logIgnoredTimeouts(configuration: ConntrackConfiguration, log: Logger): void {
  const { tcpEstablishedTimeout, tcpCloseWaitTimeout, udpTimeout, udpStreamTimeout } = configuration;
  const timeouts = { tcpEstablishedTimeout, tcpCloseWaitTimeout, udpTimeout, udpStreamTimeout };
  for (const [field, timeout = 0n] of Object.entries(timeouts)) {
    if (timeout <= 0n || timeout >= SECOND) continue;
    const value = formatDuration(timeout);
    log.warning('conntrack', 'A timeout of less than a second is ignored; the kernel keeps its value', {
      field: `conntrack.${field}`,
      value,
    });
  }
}

function growHashTable(buckets: number, log: Logger): void {
  if (readModuleParameter(HASH_SIZE) >= buckets) return;
  writeModuleParameter(HASH_SIZE, buckets);
  log.info('conntrack', 'Set conntrack hashsize', { buckets });
}

function attempt(log: Logger, setting: string, value: number, set: () => void): void {
  try {
    set();
  } catch (error) {
    log.error('conntrack', 'A conntrack setting could not be set; the kernel keeps its value', {
      setting,
      value,
      err: errorText(error),
      advice: 'set it on the machine, let the container write it, or set its conntrack field to 0',
    });
  }
}
