import { type EndpointSlice, objectKey, type Service } from '../../src/api/index.ts';
import { Cluster } from '../../src/demo/playground/index.ts';
import { type Explanation, explain, type Facts, type KernelFacts } from '../../src/explain/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { findFlows, findListeners, findOtherRulesOn, probeAll } from '../../src/machine/index.ts';
import { FAMILIES } from '../../src/net/index.ts';
import { modeSettings } from '../../src/proxy/index.ts';
import { factsFrom } from '../support/facts.ts';
import { forgetFlows } from './ask.ts';
import { CaseObjects, NODE_NAME } from './case-objects.ts';
import { address, Endpoints } from './endpoints.ts';
import { CLIENT_POD, type Question } from './matrix.ts';
import type { Step } from './recorded-case.ts';
import type { RecordedSource } from './recorded-network.ts';
import type { CaseSettings } from './settings.ts';
import { caseMode, type StartedProxy, type StartOptions, startProxy } from './start-proxy.ts';

/** On a busy machine, starting a program may take seconds. */
const TIMEOUT_MS = 60_000;
const NEVER_MS = 3_600_000;

/** A proxy on the node of a recorded network, which can be asked about itself as an operator asks. */
export class ExplainedCase {
  readonly objects = new CaseObjects();
  readonly cluster = Cluster.create();
  readonly proxy: StartedProxy;
  readonly #settings: CaseSettings;
  readonly #options: StartOptions;
  readonly #endpoints = new Endpoints(this.cluster);
  readonly #slices = new Map<string, EndpointSlice>();
  readonly #services = new Map<string, Service>();

  constructor(settings: CaseSettings, options: StartOptions = {}) {
    this.#settings = settings;
    this.#options = options;
    // No sync changes rules while they are read, and nothing repairs what a test breaks.
    const started = { ...options, syncPeriodMs: NEVER_MS };
    this.proxy = startProxy(settings.mode, this.cluster.node, settings, started);
  }

  get node(): NetworkNamespace {
    return this.cluster.node;
  }

  async apply(step: Step): Promise<void> {
    for (const family of FAMILIES) this.cluster.addPod(address(CLIENT_POD[family]));
    await this.proxy.apply(this.objects.apply(step));
    for (const object of [...step.set, ...step.removed]) {
      const map: Map<string, unknown> | undefined =
        object.kind === 'Service' ? this.#services : object.kind === 'EndpointSlice' ? this.#slices : undefined;
      if (step.set.includes(object)) map?.set(objectKey(object.metadata), object);
      else map?.delete(objectKey(object.metadata));
    }
    await this.#endpoints.serve(step.set.filter(object => object.kind === 'EndpointSlice'));
    await forgetFlows(this.cluster.node);
  }

  async ask({ source, ip, port, protocol }: Question<RecordedSource>): Promise<Explanation> {
    const { place, ip: callerIP } = source.caller;
    return await explain(
      {
        to: { kind: 'address', ip, port, protocol },
        from: place === 'node' ? { kind: 'node' } : { kind: 'address', ip: callerIP },
        probe: false,
      },
      this.facts(),
    );
  }

  facts(): Facts {
    const { loop, live, mode } = this.proxy;
    return factsFrom(loop.state, {
      nodeName: NODE_NAME,
      families: this.#options.families ?? FAMILIES,
      mode: caseMode(this.#settings),
      settings: family => modeSettings(loop.state, family, live),
      interfaceIPs: live.interfaceIPs(),
      services: this.#services,
      slices: this.#slices,
      setAside: mode.setAside(),
      condition: mode.condition?.(),
      isPending: loop.isPending,
      kernel: this.#kernel(),
    });
  }

  #kernel(): KernelFacts {
    const { node: namespace } = this.cluster;
    return {
      readBack: (family, plan) => this.proxy.mode.readBack(family, plan),
      flows: packet => findFlows(packet, { namespace }),
      otherRules: paths => findOtherRulesOn(paths, { namespace, timeoutMs: TIMEOUT_MS }),
      listeners: query => findListeners(query, { namespace, timeoutMs: TIMEOUT_MS }),
      probe: endpoints => namespace.run(() => probeAll(endpoints)),
    };
  }

  async close(): Promise<void> {
    try {
      await this.proxy.close();
    } finally {
      await this.#endpoints.close();
      this.cluster.close();
    }
  }
}

/** Runs the use, and cleans up also if it fails. */
export async function withExplainedCase(
  settings: CaseSettings,
  options: StartOptions,
  use: (explained: ExplainedCase) => Promise<void>,
): Promise<void> {
  const explained = new ExplainedCase(settings, options);
  try {
    await use(explained);
  } finally {
    await explained.close();
  }
}
