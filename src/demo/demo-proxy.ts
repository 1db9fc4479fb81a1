import { type KubeObject, objectKey } from '../api/index.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';
import { latestOf } from '../lib/change.ts';
import { errorText } from '../lib/error-text.ts';
import type { ModeEvents } from '../modes/index.ts';
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
import { Problems } from './problems.ts';

/** The node of the manifests that the proxy runs on. */
export const NODE_NAME = 'node-a';
/** What nftables mode has by default. */
const NODE_PORT_ADDRESSES: readonly string[] = ['primary'];

const SETTINGS: PlanSettings = { ...DEFAULT_PLAN_SETTINGS, clusterCIDRs: ['10.244.0.0/16', 'fd00:10:244::/48'] };
/** Who edits a manifest wants to see the effect. */
const MIN_SYNC_PERIOD_MS = 50;
const SYNC_PERIOD_MS = 1000;

/** The proxy in nftables mode in a network namespace, and what is wrong with it or with its input. */
export class DemoProxy {
  readonly #proxy: RunningProxy;
  readonly #changed: () => void;
  readonly #problems = new Problems();
  #giveUp: (() => void) | undefined;

  constructor(namespace: NetworkNamespace, changed: () => void) {
    this.#changed = changed;
    this.#proxy = createProxy(
      {
        nodeName: NODE_NAME,
        live: {
          settings: SETTINGS,
          nodePortAddresses: NODE_PORT_ADDRESSES,
          masqueradeBit: MASQUERADE_BIT,
          intervals: syncIntervals(MIN_SYNC_PERIOD_MS, SYNC_PERIOD_MS),
        },
        namespace,
      },
      { loop: this.#loopListener(), mode: this.#modeEvents(), staleFlowsCleaned: () => undefined },
    );
  }

  get loop(): ProxyLoop {
    return this.#proxy.loop;
  }

  get problems(): readonly string[] {
    const setAside = this.#proxy.mode.setAside();
    return [
      ...this.#problems.texts,
      ...this.#conflicts(),
      ...setAside.map(({ servicePort, error }) => `${servicePort} is not programmed: ${error}`),
    ];
  }

  /** The node's addresses. */
  interfaceIPs(): readonly Ip[] {
    return this.#proxy.live.interfaceIPs();
  }

  /** The node's addresses that accept node ports. */
  nodePortIPs(family: Family): readonly Ip[] {
    return modeSettings(this.loop.state, family, this.#proxy.live).nodePortIPs;
  }

  /** For a source. */
  get handlers(): SourceHandlers {
    const { loop } = this;
    // Told before anything is programmed: from now on nobody knows what connections get.
    const changing = ({ kind, metadata }: KubeObject) => {
      // What was wrong with the object before may be right now; if not, it is told again.
      this.#problems.forget(`${kind} ${objectKey(metadata)}`);
      this.#changed();
    };
    return {
      serviceChanged: change => {
        changing(latestOf(change));
        loop.serviceChanged(change);
      },
      endpointSliceChanged: change => {
        changing(latestOf(change));
        loop.endpointSliceChanged(change);
      },
      nodeChanged: change => {
        changing(latestOf(change));
        loop.nodeChanged(change);
      },
      serviceCidrChanged: change => {
        changing(latestOf(change));
        loop.serviceCidrChanged(change);
      },
      synced: () => loop.synced(),
      problem: problem => loop.problem(problem),
      recovered: where => loop.recovered(where),
    };
  }

  /** Resolves when all that is known is programmed, or cannot be. */
  async settled(): Promise<void> {
    const failed = new Promise<void>(resolve => {
      this.#giveUp = resolve;
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
        // Conflicts between Services are told by the plans, as long as they last.
        if (problem.where === undefined && problem.field === undefined) return;
        this.#problems.noteInput(problem);
        this.#changed();
      },
      recovered: where => {
        this.#problems.forget(where);
        this.#changed();
      },
      synced: () => {
        this.#problems.forget('sync');
        this.#changed();
      },
      queued: () => undefined,
      syncStarted: () => undefined,
      syncFailed: (_family, error) => this.#failed('sync', error),
      failed: (what, error) => this.#failed(what, error),
    };
  }

  #modeEvents(): ModeEvents {
    return {
      progress: () => undefined,
      setAside: () => this.#changed(),
      driftRepaired: () => this.#changed(),
      measured: () => {},
      noticed: () => {},
      failed: (what, error) => this.#failed(what, error),
    };
  }

  #failed(what: string, error: unknown): void {
    this.#problems.note(what, `${what}: ${errorText(error)}`);
    this.#giveUp?.();
    this.#changed();
  }
}
