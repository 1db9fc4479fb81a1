import { hostname } from 'node:os';
import { detectNodeIPs, isNodeIPKnown, nodeNameFrom } from '../model/index.ts';
import { checkConfiguredFamilies } from './check-families.ts';
import type { Closers } from './closers.ts';
import { applyConntrack } from './conntrack.ts';
import type { Ending } from './ending.ts';
import { followConfiguration } from './follow-configuration.ts';
import { becomeOnlyInstance } from './instance.ts';
import { prepareIpvsMode } from '../modes/ipvs/options.ts';
import { offeredFamilies, prepareMode, proxyMode } from './mode-support.ts';
import { openObjects } from './objects.ts';
import { setOwnOomScore } from './oom-score.ts';
import type { DaemonOptions } from './options.ts';
import { choosePlatform } from './platform.ts';
import { run } from './run.ts';
import { StartupError } from './startup-error.ts';
import { openSurroundings } from './surroundings.ts';

/** Everything up to a proxy that follows its objects, in upstream's order. Throws what it cannot go on from. */
export async function start(
  options: DaemonOptions,
  closers: Closers,
  ending: Ending,
): Promise<'running' | 'initialised'> {
  const { configuration, log } = options;
  log.info('server', 'Version info', { version: options.kubernetesVersion });
  const nodeName = ownName(configuration.hostnameOverride);
  const surroundings = await openSurroundings(options, nodeName, closers, ending);
  const follow = options.configFile === '' ? () => {} : followConfiguration(options, surroundings, closers, ending);
  const objects = await openObjects(options, nodeName, surroundings, closers);
  const { node } = objects.ownNode;
  const nodeIPs = detectNodeIPs(node, configuration.bindAddress);
  if (!isNodeIPKnown(nodeIPs, nodeIPs.primary)) {
    log.info('server', "Can't determine this node's IP, assuming loopback; if this is incorrect, set --bind-address");
  }
  if (options.manifests === undefined) applyConntrack(configuration.linux.conntrack, log);
  const mode = proxyMode(configuration);
  const platform = choosePlatform(nodeIPs.primary, await offeredFamilies(mode, log), log);
  checkConfiguredFamilies(configuration, node, nodeIPs, platform.dualStack, log);
  prepareMode(mode, configuration, nodeIPs, platform.families, log);
  if (mode === 'ipvs') await prepareIpvsMode(configuration, log);
  if (options.initOnly) return 'initialised';
  const lock = await becomeOnlyInstance(log, () => !ending.isReached);
  // An end that was asked for meanwhile is told by `ending`.
  if (!lock) return 'initialised';
  closers.add('instance lock', () => lock.release());
  setOwnOomScore(configuration.linux.oomScoreAdj, log);
  await run({
    options,
    closers,
    ending,
    surroundings,
    objects,
    nodeName,
    families: platform.families,
    followConfiguration: follow,
  });
  return 'running';
}

function ownName(override: string): string {
  const name = nodeNameFrom(override, hostname());
  if (name === undefined)
    throw new StartupError('empty hostname is invalid: set hostnameOverride to the name of this Node');
  return name;
}
