import { type KubeObject, objectKey } from '../api/index.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';
import { errorText } from '../lib/error-text.ts';
import { type ModeEvents, NodeAddresses, StaleFlowCleaner } from '../modes/index.ts';
import { NftablesMode } from '../modes/nftables/index.ts';
import { FAMILIES, type Family, type Ip } from '../net/index.ts';
import { conflictProblem, DEFAULT_PLAN_SETTINGS, type PlanSettings } from '../plan/index.ts';
import type { SourceHandlers } from '../source/index.ts';
import { type ModeSettingsInput, modeSettings, type ProxyLog, ProxyLoop } from '../sync/index.ts';
import { Problems } from './problems.ts';

/** The node of the manifests that the proxy runs on. */
export const NODE_NAME = 'node-a';
/** What nftables mode has by default. */
const NODE_PORT_ADDRESSES: readonly string[] = ['primary'];

const SETTINGS: PlanSettings = { ...DEFAULT_PLAN_SETTINGS, clusterCIDRs: ['10.244.0.0/16', 'fd00:10:244::/48'] };
const MASQUERADE_BIT = 14;
/** Who edits a manifest wants to see the effect. */
const MIN_SYNC_PERIOD_MS = 50;
const SYNC_PERIOD_MS = 1000;

/** The proxy in nftables mode in a network namespace, and what is wrong with it or with its input. */
export class RunningProxy {
  readonly loop: ProxyLoop;
  readonly addresses: NodeAddresses;
  readonly #mode: NftablesMode;
  readonly #cleaner: StaleFlowCleaner;
  readonly #changed: () => void;
  readonly #problems = new Problems();
  readonly #settings: ModeSettingsInput = {
    nodePortAddresses: NODE_PORT_ADDRESSES,
    masqueradeBit: MASQUERADE_BIT,
    interfaceIPs: () => this.addresses.list(),
  };
  #giveUp: (() => void) | undefined;

  constructor(namespace: NetworkNamespace, changed: () => void) {
    this.#changed = changed;
    this.addresses = new NodeAddresses(
      namespace,
      () => this.loop.request(),
      error => this.#failed("watching the node's addresses", error),
    );
    this.#cleaner = new StaleFlowCleaner(namespace);
    this.#mode = new NftablesMode({ namespace, events: this.#modeEvents() });
    this.loop = this.#makeLoop();
  }

  get problems(): readonly string[] {
    const setAside = this.#mode.setAside();
    return [
      ...this.#problems.texts,
      ...this.#conflicts(),
      ...setAside.map(({ servicePort, error }) => `${servicePort} is not programmed: ${error}`),
    ];
  }

  /** The node's addresses that accept node ports. */
  nodePortIPs(family: Family): readonly Ip[] {
    return modeSettings(this.loop.state, family, this.#settings).nodePortIPs;
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
      service: change => {
        changing(change.object);
        loop.service(change);
      },
      endpointSlice: change => {
        changing(change.object);
        loop.endpointSlice(change);
      },
      node: change => {
        changing(change.object);
        loop.node(change);
      },
      serviceCidr: change => {
        changing(change.object);
        loop.serviceCidr(change);
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

  async close(): Promise<void> {
    await this.loop.close();
    this.#cleaner.close();
    this.addresses.close();
  }

  #conflicts(): readonly string[] {
    const plans = FAMILIES.flatMap(family => [...this.loop.state.family(family).planner.plans()]);
    const problems = plans.flatMap(plan => plan.conflicts.map(conflict => conflictProblem(plan, conflict)));
    return problems.map(({ object, message }) => `${object}: ${message}`);
  }

  #makeLoop(): ProxyLoop {
    return new ProxyLoop({
      nodeName: NODE_NAME,
      settings: SETTINGS,
      families: FAMILIES,
      mode: this.#mode,
      ...this.#settings,
      cleanStaleFlows: (family, services) => this.#cleaner.clean(family, services, SETTINGS.allowExternalIPs),
      minSyncPeriodMs: MIN_SYNC_PERIOD_MS,
      syncPeriodMs: SYNC_PERIOD_MS,
      log: this.#log(),
    });
  }

  #log(): ProxyLog {
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
      failed: (what, error) => this.#failed(what, error),
    };
  }

  #modeEvents(): ModeEvents {
    return {
      progress: () => undefined,
      setAside: () => this.#changed(),
      driftRepaired: () => this.#changed(),
      failed: (what, error) => this.#failed(what, error),
    };
  }

  #failed(what: string, error: unknown): void {
    this.#problems.note(what, `${what}: ${errorText(error)}`);
    this.#giveUp?.();
    this.#changed();
  }
}
