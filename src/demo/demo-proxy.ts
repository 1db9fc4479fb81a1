import { type KubeObject, type ObjectLookup, objectKey } from '../api/index.ts';
import { type Facts, proxyFacts } from '../explain/index.ts';
import type { InspectedProxy } from '../inspect/index.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';
import { latestOf } from '../lib/change.ts';
import { systemClock } from '../lib/clock.ts';
import { CurrentProblems } from '../lib/current-problems.ts';
import { errorText } from '../lib/error-text.ts';
import type { Problem } from '../lib/problem.ts';
import type { Algorithm } from '../model/index.ts';
import {
  type ConfiguredMode,
  connectionCounts,
  type ModeCondition,
  type ModeEvents,
  type ModeSettings,
  type SocketScope,
  setAsideName,
  TrafficReader,
} from '../modes/index.ts';
import { FAMILIES, type Family, type Ip } from '../net/index.ts';
import { conflictProblems, DEFAULT_PLAN_SETTINGS, type PlanSettings } from '../plan/index.ts';
import {
  createProxy,
  type LoopListener,
  MASQUERADE_BIT,
  modeSettings,
  type ProxyLoop,
  type RunningProxy,
  syncIntervals,
} from '../proxy/index.ts';
import type { SourceHandlers } from '../source/index.ts';
import { DemoRecord } from './demo-record.ts';
import { demoStatus } from './demo-status.ts';
import { POD_BRIDGE } from './playground/index.ts';

/** The name of the node that the proxy runs on. */
export const NODE_NAME = 'node-a';
/** In every mode. Other addresses of the node would only make the table longer. */
const NODE_PORT_ADDRESSES = ['primary'];

/** All pods of the node are behind its bridge, whatever their addresses. */
const SETTINGS: PlanSettings = { ...DEFAULT_PLAN_SETTINGS, mode: 'BridgeInterface', bridgeInterface: POD_BRIDGE };
/** Short, so that an edited manifest shows at once. */
const MIN_SYNC_PERIOD_MS = 50;
const SYNC_PERIOD_MS = 1000;

export interface DemoProxyOptions {
  readonly namespace: NetworkNamespace;
  readonly nodeName: string;
  readonly mode: ConfiguredMode;
  readonly families: readonly Family[];
  readonly defaultBalance?: Algorithm | undefined;
  readonly onChange: () => void;
  /** The sockets that the mode may serve. */
  readonly socketScope?: SocketScope | undefined;
}

/** The proxy in a network namespace, its current problems, and its history. */
export class DemoProxy {
  readonly #proxy: RunningProxy;
  readonly #options: DemoProxyOptions;
  readonly #onChange: () => void;
  readonly #record: DemoRecord;
  readonly #problems = new CurrentProblems();
  #stopSettling: (() => void) | undefined;

  constructor(options: DemoProxyOptions) {
    const { namespace, nodeName, mode, families, onChange, socketScope } = options;
    this.#options = options;
    this.#onChange = onChange;
    this.#record = new DemoRecord(`node ${nodeName}, mode ${mode.descriptor.name}, ${families.join(' and ')}`);
    this.#proxy = createProxy(
      {
        nodeName,
        mode,
        families,
        live: {
          settings: { ...SETTINGS, defaultAlgorithm: options.defaultBalance, algorithms: mode.descriptor.algorithms },
          nodePortAddresses: NODE_PORT_ADDRESSES,
          masqueradeBit: MASQUERADE_BIT,
          intervals: syncIntervals(MIN_SYNC_PERIOD_MS, SYNC_PERIOD_MS),
        },
        namespace,
        socketScope,
      },
      {
        loop: this.#record.withLoop(this.#loopListener()),
        mode: this.#record.withMode(this.#modeEvents()),
        staleFlowsCleaned: () => undefined,
      },
    );
  }

  get loop(): ProxyLoop {
    return this.#proxy.loop;
  }

  get problems(): readonly string[] {
    const setAside = this.#proxy.mode.setAside();
    return [
      ...this.#problems.all.map(problemText),
      ...this.#conflicts(),
      ...setAside.map(port => `${setAsideName(port)} is not programmed: ${port.cause.message}`),
    ];
  }

  /** The node's addresses. */
  interfaceIPs(): readonly Ip[] {
    return this.#proxy.live.interfaceIPs();
  }

  /** Whether an extra part of the mode serves. */
  condition(): ModeCondition | undefined {
    return this.#proxy.mode.condition?.();
  }

  modeSettings(family: Family): ModeSettings {
    return modeSettings(this.loop.state, family, this.#proxy.live);
  }

  /** What the operator's page shows of the proxy. */
  inspected(objects: ObjectLookup, version: string): InspectedProxy {
    const { nodeName, families, mode, namespace } = this.#options;
    const proxy = this.#proxy;
    const record = this.#record;
    const traffic = new TrafficReader(proxy.mode, systemClock);
    // A sync that failed is part of the status.
    const problems = () =>
      this.#problems.all.filter(({ where, object }) => where !== undefined || object !== undefined);
    return {
      nodeName,
      facts: (): Facts =>
        proxyFacts({ proxy, nodeName, families, mode, objects, namespace, problems, watches: () => [] }),
      history: record.history,
      status: () => demoStatus({ proxy, nodeName, families, mode, record, version, problems: problems().length }),
      pulse: record.run.pulse,
      connectionCounts: () => connectionCounts(proxy.mode, traffic),
      traffic: () => traffic.read(),
      listing: (family, plans) => proxy.mode.listing(family, plans),
    };
  }

  /** What a source calls. */
  get handlers(): SourceHandlers {
    const loop = this.#record.withHandlers(this.loop);
    // This runs before the proxy programs the change, so that results of the former objects do not count.
    const prepare = ({ kind, metadata }: KubeObject) => {
      // The new version of the object may be right. If not, the loop reports its problem again.
      this.#problems.clear(`${kind} ${objectKey(metadata)}`);
      this.#onChange();
    };
    return {
      serviceChanged: change => {
        prepare(latestOf(change));
        loop.serviceChanged(change);
      },
      endpointSliceChanged: change => {
        prepare(latestOf(change));
        loop.endpointSliceChanged(change);
      },
      nodeChanged: change => {
        prepare(latestOf(change));
        loop.nodeChanged(change);
      },
      serviceCidrChanged: change => {
        prepare(latestOf(change));
        loop.serviceCidrChanged(change);
      },
      synced: () => loop.synced(),
      problem: problem => loop.problem(problem),
      recovered: where => loop.recovered?.(where),
    };
  }

  /** Resolves when everything is programmed, or when programming failed. */
  async settled(): Promise<void> {
    const failed = new Promise<void>(resolve => {
      this.#stopSettling = resolve;
    });
    await Promise.race([this.loop.settled(), failed]);
  }

  close(): Promise<void> {
    return this.#proxy.close();
  }

  #conflicts(): readonly string[] {
    const problems = FAMILIES.flatMap(family => conflictProblems(this.loop.state.family(family).planner.plans()));
    return problems.map(({ object, message }) => `${object}: ${message}`);
  }

  #loopListener(): LoopListener {
    return {
      problem: problem => {
        // `problems` reads conflicts between Services from the plans, because the loop does not report their end.
        if (problem.where === undefined && problem.field === undefined) return;
        this.#problems.add(problem);
        this.#onChange();
      },
      recovered: where => {
        this.#problems.clear(where);
        this.#onChange();
      },
      synced: () => {
        this.#problems.clear('sync');
        this.#onChange();
      },
      queued: () => undefined,
      syncStarted: () => undefined,
      syncFailed: (_family, { error }) => this.#fail('sync', error),
      failed: (action, error) => this.#fail(action, error),
    };
  }

  #modeEvents(): ModeEvents {
    return {
      progress: () => undefined,
      setAside: () => this.#onChange(),
      driftRepaired: () => this.#onChange(),
      measured: () => {},
      notice: () => {},
      failed: ({ action, error }) => this.#fail(action, error),
    };
  }

  #fail(action: string, error: unknown): void {
    this.#problems.set(action, { message: `could not ${action}: ${errorText(error)}` });
    this.#stopSettling?.();
    this.#onChange();
  }
}

function problemText({ where, object, field, message }: Problem): string {
  return [where, object, field ? `${field} ${message}` : message].filter(Boolean).join(': ');
}
