import type { EndpointSlice, Service } from '../../src/api/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { parseNodePortAddresses } from '../../src/model/index.ts';
import type { Mode, ModeEvents, ModeSettings } from '../../src/modes/index.ts';
import { NftablesMode } from '../../src/modes/nftables/index.ts';
import { FAMILIES, type Family } from '../../src/net/index.ts';
import { DEFAULT_PLAN_SETTINGS } from '../../src/plan/index.ts';
import { ProxyState } from '../../src/proxy/index.ts';
import { POD_RANGE, SERVICE_RANGE } from './cluster.ts';

/** A mode that may have something left to do after a sync. */
export type BenchMode = Mode & { settle?(): Promise<void> };
export type OpenMode = (namespace: NetworkNamespace, events: ModeEvents) => BenchMode;

/** State and a mode as in the real process: both families, a local detector, a range of cluster IPs. */
export class NodeProxy {
  readonly #namespace: NetworkNamespace;
  readonly #state = new ProxyState({
    nodeName: 'node-1',
    settings: { ...DEFAULT_PLAN_SETTINGS, clusterCIDRs: [POD_RANGE] },
    startedAt: 0,
    report: problem => fail(problem.message),
  });
  readonly #open: OpenMode;
  #mode: BenchMode;

  constructor(namespace: NetworkNamespace, open: OpenMode = openNftables) {
    this.#namespace = namespace;
    this.#open = open;
    this.#mode = open(namespace, EVENTS);
  }

  service(object: Service): void {
    this.#state.serviceChanged({ type: 'added', to: object });
  }

  endpointSlice(object: EndpointSlice): void {
    this.#state.endpointSliceChanged({ type: 'added', to: object });
  }

  take(): ReturnType<ProxyState['take']> {
    return this.#state.take();
  }

  async write(changes: ReturnType<ProxyState['take']>): Promise<void> {
    for (const family of FAMILIES) await this.#mode.sync(family, changes[family].plans, this.#settings(family));
  }

  /** Waits for what follows a sync. */
  async settle(): Promise<void> {
    await this.#mode.settle?.();
  }

  /** Puts a new mode in the place of the one that is there, as a restarted process does; the kernel's table stays. */
  async restart(): Promise<void> {
    await this.#mode.close();
    this.#mode = this.#open(this.#namespace, EVENTS);
  }

  /** Hands all plans to the mode, as a process does first. */
  async writeAll(): Promise<void> {
    for (const family of FAMILIES) {
      const added = [...this.#state.family(family).planner.plans()];
      await this.#mode.sync(family, { added, updated: [], removed: [] }, this.#settings(family));
    }
  }

  async close(): Promise<void> {
    await this.#mode.close();
  }

  #settings(family: Family): ModeSettings {
    const { localDetector, masqueradeAll } = this.#state.nodeOptions.families[family];
    return {
      localDetector,
      masqueradeAll,
      masqueradeMark: 0x4000,
      nodePortAddresses: parseNodePortAddresses(family, []),
      nodePortIPs: [],
      serviceCIDRs: [SERVICE_RANGE],
      // Looking for what others changed is not measured.
      syncPeriodMs: 3_600_000,
    };
  }
}

const openNftables: OpenMode = (namespace, events) => new NftablesMode({ namespace, events });

const EVENTS: ModeEvents = {
  progress() {},
  setAside: ({ servicePort, error }) => fail(`${servicePort}: ${error}`),
  driftRepaired: (family, what) => fail(`${family} was repaired: ${what}`),
  measured: () => {},
  noticed: (family, what) => fail(`${family}: ${what}`),
  failed: (what, error) => fail(`${what}: ${error}`),
};

/** A benchmark of something that went wrong is worth nothing. */
function fail(message: string): never {
  throw new Error(message);
}
