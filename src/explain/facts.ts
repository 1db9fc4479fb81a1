import type { ObjectLookup } from '../api/index.ts';
import type { Problem } from '../lib/problem.ts';
import type {
  FoundFlows,
  FoundListeners,
  ListenerQuery,
  OtherRules,
  Packet,
  PacketPath,
  ProbedEndpoint,
  ProbeResult,
} from '../machine/index.ts';
import type {
  ConfiguredMode,
  KernelReading,
  ModeBehaviour,
  ModeCondition,
  ModeSettings,
  SetAside,
  SocketReading,
} from '../modes/index.ts';
import { FAMILIES, type Family, type Ip } from '../net/index.ts';
import type { ServicePortPlan } from '../plan/index.ts';
import type { ProxyState } from '../proxy/index.ts';

/** Everything that an explanation is made from. */
export interface Facts {
  /** Where the facts come from: a running proxy, an API server, or manifests. */
  readonly origin: 'proxy' | 'cluster' | 'manifests';
  readonly nodeName: string;
  readonly families: readonly Family[];
  readonly state: ProxyState;
  readonly mode: ConfiguredMode;
  settings(family: Family): ModeSettings;
  /** The addresses of the node's interfaces. Undefined without a kernel to ask; then the Node's addresses count. */
  readonly interfaceIPs: readonly Ip[] | undefined;
  /** The objects as the source delivered them, with the fields that plans do not need. */
  readonly objects: ObjectLookup;
  /** Faults in the input that exist now. */
  readonly problems: readonly Problem[];
  readonly setAside: readonly SetAside[];
  /** Whether an extra part of the mode serves now. Undefined without such a part, or without a running proxy. */
  readonly condition?: ModeCondition | undefined;
  /** Some changes that the proxy has received are not written yet. */
  readonly isPending: boolean;
  /** Empty without an API server. */
  readonly watches: readonly WatchFact[];
  /** Undefined if the facts come from no running proxy. */
  readonly kernel: KernelFacts | undefined;
}

export interface WatchFact {
  readonly path: string;
  readonly hasSynced: boolean;
  /** Milliseconds since the last data of the watch. Undefined before the first data. */
  readonly silentMs: number | undefined;
  readonly problem: Problem | undefined;
}

/** Reads the kernel now. All reads are bounded. */
export interface KernelFacts {
  readBack(family: Family, plan: ServicePortPlan): Promise<KernelReading>;
  /** The sockets that the mode led to endpoints. Undefined if the mode does not translate at sockets. */
  sockets?(): Promise<SocketReading | undefined>;
  /** The tracked connections of a caller. */
  flows?(packet: Packet): Promise<FoundFlows>;
  /** What drops packets beside the proxy's own rules, for each path. */
  otherRules?(paths: readonly PacketPath[]): Promise<readonly OtherRules[]>;
  listeners?(query: ListenerQuery): Promise<FoundListeners>;
  /** Connects to endpoints from the node. */
  probe?(endpoints: readonly ProbedEndpoint[]): Promise<readonly ProbeResult[]>;
}

/** What happens to connections now: while the mode cannot serve sockets, rules do everything. */
export function behaviourNow(behaviour: ModeBehaviour, condition: ModeCondition | undefined): ModeBehaviour {
  return condition?.isServing === false && behaviour.atSockets ? { ...behaviour, atSockets: undefined } : behaviour;
}

/** The facts of this moment: reads each that a running proxy computes only once. */
export function fixedFacts(facts: Facts): Facts {
  const settings = new Map(FAMILIES.map(family => [family, facts.settings(family)]));
  return { ...facts, settings: family => settings.get(family) ?? facts.settings(family) };
}
