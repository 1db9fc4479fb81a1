import type { EndpointSlice, Service } from '../../src/api/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { parseNodePortAddresses } from '../../src/model/index.ts';
import type { Mode, ModeEvents, ModeSettings } from '../../src/modes/index.ts';
import { NftablesMode } from '../../src/modes/nftables/mode.ts';
import { setAsideName } from '../../src/modes/set-aside.ts';
import { FAMILIES, type Family } from '../../src/net/index.ts';
import { DEFAULT_PLAN_SETTINGS } from '../../src/plan/index.ts';
import { ProxyState } from '../../src/proxy/index.ts';
import { POD_RANGE, SERVICE_RANGE } from './cluster.ts';

/** A mode that may have work left after a sync. */
export type BenchMode = Mode & { settle?(): Promise<void> };
export type OpenMode = (namespace: NetworkNamespace, events: ModeEvents) => BenchMode;

export interface NodeProxyOptions {
  /** Opens the mode. The default is nftables mode. */
  readonly open?: OpenMode;
  /** The default is both families, as in the real process. */
  readonly families?: readonly Family[];
}

/** The state and a mode as in the real process, with a local detector and a range of cluster IPs. */
export class NodeProxy {
  readonly #namespace: NetworkNamespace;
  readonly #state = new ProxyState({
    nodeName: 'node-1',
    settings: { ...DEFAULT_PLAN_SETTINGS, clusterCIDRs: [POD_RANGE] },
    startedAt: 0,
    report: problem => fail(problem.message),
  });
  readonly #open: OpenMode;
  readonly #families: readonly Family[];
  #mode: BenchMode;

  constructor(namespace: NetworkNamespace, { open = openNftables, families = FAMILIES }: NodeProxyOptions = {}) {
    this.#namespace = namespace;
    this.#families = families;
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
    for (const family of this.#families) await this.#mode.sync(family, changes[family].plans, this.#settings(family));
  }

  /** Waits for the work that follows a sync. */
  async settle(): Promise<void> {
    await this.#mode.settle?.();
  }

  /** Closes the mode and opens a new one, as a restarted process does. The rules in the kernel stay. */
  async restart(): Promise<void> {
    await this.#mode.close();
    this.#mode = this.#open(this.#namespace, EVENTS);
  }

  /** Hands all plans to the mode, as a process does at its start. */
  async writeAll(): Promise<void> {
    for (const family of this.#families) {
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
      // One hour, because the search for drift is not part of the measurement.
      syncPeriodMs: 3_600_000,
    };
  }
}

const openNftables: OpenMode = (namespace, events) => new NftablesMode({ namespace, events });

const EVENTS: ModeEvents = {
  progress() {},
  setAside: port => fail(`${setAsideName(port)}: ${port.cause.message}`),
  driftRepaired: (family, { cause }) => fail(`${family} was repaired: ${cause}`),
  measured: () => {},
  notice: (family, message) => fail(`${family}: ${message}`),
  failed: ({ action, error }) => fail(`could not ${action}: ${error}`),
};

/** An error ends the bench, because its figures would be worth nothing. */
function fail(message: string): never {
  throw new Error(message);
}
