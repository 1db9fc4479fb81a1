import { type KubeObject, lookupIn, type Node } from '../../api/index.ts';
import type { Configuration, FeatureGates } from '../../config/index.ts';
import { liveConfig, localNode } from '../../daemon/index.ts';
import type { Facts } from '../../explain/index.ts';
import type { Problem } from '../../lib/problem.ts';
import { configuredMode, type ModeFlags } from '../../modes/index.ts';
import { FAMILIES } from '../../net/index.ts';
import { conflictProblems } from '../../plan/index.ts';
import { type LiveConfig, modeSettings, ProxyState, unavailableDefault } from '../../proxy/index.ts';
import { isSelected } from '../../source/index.ts';
import type { Io } from '../command.ts';
import { FlagError } from '../flags/index.ts';
import { modeFlags } from '../node-flags.ts';
import { type ChosenNode, chooseNode } from './choose-node.ts';
import { factsConfiguration } from './configuration.ts';
import { endpointNotes } from './endpoint-notes.ts';
import { type FactsFlags, nodeFlag } from './flags.ts';
import { fromCluster } from './from-cluster.ts';
import { fromManifests } from './from-manifests.ts';
import { machineIPs, nodeInterfaceIPs } from './interface-ips.ts';
import { settingsNotes } from './settings-notes.ts';
import { type Snapshot, withPlace } from './snapshot.ts';

/** The facts that need no running proxy, and where they come from. */
export interface LoadedFacts extends Facts {
  readonly origin: 'cluster' | 'manifests';
  readonly configuration: Configuration;
  readonly live: LiveConfig;
  readonly snapshot: Snapshot;
  /** The Node whose view this is. Undefined if the addresses of this machine could not be read. */
  readonly node: Node | undefined;
  /** The node is this machine. */
  readonly isThisMachine: boolean;
  /** What the operator should know although nothing is wrong. */
  readonly notes: readonly string[];
}

/**
 * Reads the objects and the settings that the flags name, and plans for the node that they name. Throws a FlagError, or
 * an Error that says what to do.
 */
export async function loadFacts(flags: FactsFlags, io: Pick<Io, 'stdin'>): Promise<LoadedFacts> {
  const { configuration, gates, notes } = factsConfiguration(flags);
  const wanted = nodeFlag(flags) || configuration.hostnameOverride;
  const snapshot = await readSnapshot(flags, configuration, io);
  const chosen = chooseNode(wanted, snapshot);
  const facts = factsOf(snapshot, chosen, configuration, gates, modeFlags(flags.values));
  return { ...facts, notes: [...notes, ...facts.notes] };
}

async function readSnapshot(
  { values }: FactsFlags,
  { clientConnection }: Configuration,
  { stdin }: Pick<Io, 'stdin'>,
): Promise<Snapshot> {
  const { manifests, context } = values;
  const allowLoopbackEndpoints = values['allow-loopback-endpoints'];
  if (manifests !== '' && values.kubeconfig !== '') {
    throw new FlagError('--manifests and --kubeconfig name two sources: give one of them');
  }
  if (manifests !== '') return await fromManifests({ path: manifests, stdin, allowLoopbackEndpoints });
  const kubeconfig = values.kubeconfig || clientConnection.kubeconfig;
  if (kubeconfig !== '') return await fromCluster({ kubeconfig, context, clientConnection });
  throw new FlagError('no objects to read: give --manifests DIR (or - for standard input), or --kubeconfig FILE');
}

function factsOf(
  snapshot: Snapshot,
  { name: nodeName, isThisMachine, note }: ChosenNode,
  configuration: Configuration,
  gates: FeatureGates,
  ofMode: ModeFlags,
): LoadedFacts {
  const problems: Problem[] = [...snapshot.problems];
  const live = liveConfig(configuration, gates, ofMode);
  const mode = configuredMode(configuration, ofMode);
  const report = (problem: Problem) => problems.push(withPlace(problem, snapshot));
  const state = new ProxyState({ nodeName, settings: live.settings, startedAt: 0, report, mode });
  const node = isThisMachine ? localNode(nodeName) : snapshot.nodes.get(nodeName);
  feed(state, snapshot, nodeName, node);
  const conflicts = FAMILIES.flatMap(family => conflictProblems(state.family(family).planner.plans())).map(problem =>
    withPlace(problem, snapshot),
  );
  const ignoredDefault = unavailableDefault(ofMode.defaultBalance, mode);
  const interfaceIPs = isThisMachine ? machineIPs() : undefined;
  return {
    origin: snapshot.origin,
    nodeName,
    node,
    isThisMachine,
    families: FAMILIES,
    state,
    configuration,
    live,
    snapshot,
    mode,
    settings: family =>
      modeSettings(state, family, {
        ...live,
        interfaceIPs: () => interfaceIPs ?? nodeInterfaceIPs(node, state.nodeOptions.nodeIPs),
      }),
    interfaceIPs,
    objects: lookupIn(snapshot),
    problems: [...problems, ...conflicts],
    setAside: [],
    isPending: false,
    watches: [],
    kernel: undefined,
    notes: [
      ...snapshot.notes,
      ...(note ? [note] : []),
      ...(ignoredDefault === undefined ? [] : [ignoredDefault]),
      ...settingsNotes(configuration, nodeName, node, state),
      ...endpointNotes(snapshot, nodeName, state),
    ],
  };
}

/** Hands the objects that a proxy on the node uses to the state. */
function feed(state: ProxyState, snapshot: Snapshot, nodeName: string, node: Node | undefined): void {
  const isUsed = (object: KubeObject) => isSelected(object, nodeName);
  if (node) state.nodeChanged({ type: 'added', to: node });
  for (const to of snapshot.serviceCidrs) state.serviceCidrChanged({ type: 'added', to });
  for (const to of snapshot.services.values()) if (isUsed(to)) state.serviceChanged({ type: 'added', to });
  for (const to of snapshot.slices.values()) if (isUsed(to)) state.endpointSliceChanged({ type: 'added', to });
  state.take();
}
