import { hostname } from 'node:os';
import { detectNodeIPs, isNodeIPKnown, nodeNameFrom } from '../model/index.ts';
import { reloadConfiguration } from './configuration-reload.ts';
import { applyConntrack } from './conntrack.ts';
import { checkConfiguredFamilies, chooseFamilies } from './families.ts';
import { prepareIpvsMode } from './ipvs.ts';
import { setOwnOomScore } from './memory.ts';
import { offeredFamilies, prepareMode, proxyMode } from './mode-support.ts';
import { openObjects } from './objects.ts';
import { openObservability } from './observability.ts';
import { becomeOnlyInstance } from './only-instance.ts';
import type { DaemonOptions } from './options.ts';
import { run } from './run.ts';
import type { OpenResources, Shutdown } from './shutdown.ts';
import { FatalError } from './shutdown.ts';

/** Everything up to a proxy that follows its objects, in upstream's order. Throws what it cannot go on from. */
export async function start(
  options: DaemonOptions,
  resources: OpenResources,
  shutdown: Shutdown,
): Promise<'running' | 'initialised'> {
  const { configuration, log } = options;
  log.info('server', 'Version info', { version: options.kubernetesVersion });
  const nodeName = ownName(configuration.hostnameOverride);
  const observability = await openObservability(options, nodeName, resources, shutdown);
  const follow =
    options.configFile === '' ? () => {} : reloadConfiguration(options, observability, resources, shutdown);
  const objects = await openObjects(options, nodeName, observability, resources);
  const { node } = objects.ownNode;
  const nodeIPs = detectNodeIPs(node, configuration.bindAddress);
  if (!isNodeIPKnown(nodeIPs, nodeIPs.primary)) {
    log.info('server', "Can't determine this node's IP, assuming loopback; if this is incorrect, set --bind-address");
  }
  if (options.manifests === undefined) applyConntrack(configuration.linux.conntrack, log);
  const mode = proxyMode(configuration);
  const platform = chooseFamilies(nodeIPs.primary, await offeredFamilies(mode, log), log);
  checkConfiguredFamilies(configuration, node, nodeIPs, platform.dualStack, log);
  prepareMode(mode, configuration, nodeIPs, platform.families, log);
  if (mode === 'ipvs') await prepareIpvsMode(configuration, log);
  if (options.initOnly) return 'initialised';
  const lock = await becomeOnlyInstance(log, () => !shutdown.isRequested);
  // An end that was asked for meanwhile is told by `shutdown`.
  if (!lock) return 'initialised';
  resources.add('instance lock', () => lock.release());
  setOwnOomScore(configuration.linux.oomScoreAdj, log);
  await run({
    options,
    resources,
    shutdown,
    observability,
    objects,
    nodeName,
    families: platform.families,
    onConfigurationChange: follow,
  });
  return 'running';
}

function ownName(override: string): string {
  const name = nodeNameFrom(override, hostname());
  if (name === undefined)
    throw new FatalError('empty hostname is invalid: set hostnameOverride to the name of this Node');
  return name;
}
