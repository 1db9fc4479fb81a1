import { hostname } from 'node:os';
import { MODE_DEFAULTED } from '../config/index.ts';
import { FatalError } from '../lib/fatal-error.ts';
import { detectNodeIPs, isNodeIPKnown, nodeNameFrom } from '../model/index.ts';
import { configuredMode } from '../modes/index.ts';
import { ProgrammedVersions } from '../proxy/index.ts';
import { reloadConfiguration } from './configuration-reload.ts';
import { applyConntrack } from './conntrack.ts';
import { checkConfiguredFamilies, chooseFamilies } from './families.ts';
import { setOwnOomScore } from './memory.ts';
import { openObjects } from './objects.ts';
import { openObservability } from './observability.ts';
import { becomeOnlyInstance } from './only-instance.ts';
import type { DaemonOptions } from './options.ts';
import { run } from './run.ts';
import type { OpenResources, Shutdown } from './shutdown.ts';

/** Everything up to a running proxy, in upstream's order. Throws a `FatalError` if the proxy cannot start. */
export async function start(
  options: DaemonOptions,
  resources: OpenResources,
  shutdown: Shutdown,
): Promise<'running' | 'initialised'> {
  const { configuration, log } = options;
  log.info('server', 'Version info', { version: options.kubernetesVersion });
  const nodeName = ownName(configuration.hostnameOverride);
  const observability = await openObservability(options, nodeName, resources, shutdown);
  const onConfigurationChange =
    options.configFile === '' ? () => {} : reloadConfiguration(options, observability, resources, shutdown);
  const objects = await openObjects(options, nodeName, observability, resources);
  const { node } = objects.ownNode;
  const nodeIPs = detectNodeIPs(node, configuration.bindAddress);
  // The proxy reads manifests later. The Node may be among them.
  const isNodePending = options.manifests !== undefined;
  if (!isNodePending && !isNodeIPKnown(nodeIPs, nodeIPs.primary)) {
    log.info('server', "Can't determine this node's IP, assuming loopback; if this is incorrect, set --bind-address");
  }
  if (options.manifests === undefined) applyConntrack(configuration.linux.conntrack, log);
  log.v(2, 'server', 'DetectLocalMode', { localMode: configuration.detectLocalMode });
  const mode = configuredMode(configuration, options);
  const supported = await mode.descriptor.supportedFamilies(log);
  const { families, dualStack } = chooseFamilies(nodeIPs.primary, supported, log);
  checkConfiguredFamilies(configuration, node, nodeIPs, dualStack, log, isNodePending);
  if (options.isModeDefaulted) log.error('server', MODE_DEFAULTED);
  log.info('server', `Using ${mode.descriptor.name} Proxier`);
  await mode.prepare({ configuration, nodeIPs, families, log });
  if (options.initOnly) return 'initialised';
  const lock = await becomeOnlyInstance({
    log,
    checks: observability.checks,
    isWanted: () => !shutdown.isRequested,
  });
  // Without a lock a shutdown was requested, and `shutdown` says so.
  if (!lock) return 'initialised';
  resources.add('instance lock', () => lock.release());
  setOwnOomScore(configuration.linux.oomScoreAdj, log);
  await run({
    options,
    resources,
    shutdown,
    observability,
    objects,
    programmed: new ProgrammedVersions(() => objects.versions()),
    nodeName,
    mode,
    families,
    onConfigurationChange,
  });
  return 'running';
}

function ownName(override: string): string {
  const name = nodeNameFrom(override, hostname());
  if (name === undefined)
    throw new FatalError('empty hostname is invalid: set hostnameOverride to the name of this Node');
  return name;
}
