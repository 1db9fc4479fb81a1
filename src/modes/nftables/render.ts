import {
  dataBytes,
  type Element,
  type NftMap,
  type NftSet,
  type SetOrMap,
  type Verdict,
} from '../../kernel/nftables/index.ts';
import type { Endpoint } from '../../model/index.ts';
import {
  type Frontend,
  localhostNodePort,
  reachableEndpoints,
  type ServicePortPlan,
  slotsOf,
} from '../../plan/index.ts';
import { elementComment, servicePortBase } from './names.ts';
import type { ChainRules } from './table/chain-rules.ts';
import { denialPlace, mayDrop } from './table/denials.ts';
import type { Layout } from './table/layout.ts';
import { affinitySet, endpointChain, firewallChain } from './table/own-chains.ts';
import { countsTurns, hasOwnPicks, ownPick, ownPickName, turnChain } from './table/own-picks.ts';
import { LOCALHOST_REJECT_CHAIN } from './table/program.ts';
import {
  externalClusterChain,
  externalLocalChain,
  type RenderContext,
  type Scope,
  slotChain,
  slotChainName,
  type Target,
  targetNumber,
} from './table/shared-chains.ts';
import type { SlotTable } from './table/slot-table.ts';

/** An element and the set that it is in. */
export interface Placed {
  readonly set: SetOrMap;
  readonly element: Element;
}

/** Everything that one service port needs in the table. Other service ports may use some of the same objects. */
export interface Rendered {
  readonly sets: readonly SetOrMap[];
  /** A chain comes before the chains that go to it. */
  readonly chains: readonly ChainRules[];
  /** Without those of tables. */
  readonly elements: readonly Placed[];
  /** Maps that belong to this service port. */
  readonly tables: readonly SlotTable[];
}

/** All elements that a service port needs. */
export function* allElements({ elements, tables }: Rendered): Generator<Placed> {
  yield* elements;
  for (const table of tables) for (const element of table.elements()) yield { set: table.map, element };
}

interface EndpointMaps {
  readonly cluster: NftMap;
  readonly local: NftMap;
}

interface ChosenChain {
  readonly chain: string;
  /** The number of a shared chain. A chain that belongs to one service port has none. */
  readonly number: number | undefined;
}

export function render(context: RenderContext, plan: ServicePortPlan): Rendered {
  const rendering = new Rendering(context, plan);
  rendering.run();
  return rendering;
}

class Rendering implements Rendered {
  readonly sets: SetOrMap[] = [];
  readonly chains: ChainRules[] = [];
  readonly elements: Placed[] = [];
  readonly tables: SlotTable[] = [];
  readonly #context: RenderContext;
  readonly #layout: Layout;
  readonly #plan: ServicePortPlan;
  readonly #protocol: string;
  readonly #chainNames = new Set<string>();
  readonly #hasOwnPicks: boolean;

  constructor(context: RenderContext, plan: ServicePortPlan) {
    this.#context = context;
    this.#layout = context.layout;
    this.#plan = plan;
    this.#protocol = plan.port.protocol.toLowerCase();
    this.#hasOwnPicks = hasOwnPicks(plan);
  }

  run(): void {
    const { frontends, port } = this.#plan;
    if (port.affinitySeconds > 0) this.#affinityEndpoints();
    this.#hairpins();
    this.#place(this.#layout.clusterIPs, { key: dataBytes(this.#layout.clusterIPs.type, [port.clusterIP]) });
    const firewall = firewallChain(this.#layout, this.#plan, frontends);
    if (firewall) this.#chain(firewall);
    for (const frontend of frontends) {
      if (frontend.ip === undefined) this.#nodePort(frontend);
      else this.#address(frontend, frontend.ip, firewall);
    }
  }

  #address(frontend: Frontend, ip: string, firewall: ChainRules | undefined): void {
    const layout = this.#layout;
    const key = dataBytes(layout.serviceNumbers.type, [ip, this.#protocol, frontend.port]);
    const maps = { cluster: layout.clusterEndpoints, local: layout.localEndpoints };
    const target = this.#target(frontend, maps, [ip]);
    if (target) this.#forward(layout.serviceNumbers, layout.serviceChains, key, target);
    this.#withoutEndpoints(frontend, layout.noEndpointServices, key);
    this.#countAll(layout.serviceConnections, frontend, key);
    if (frontend.firewall && firewall) {
      this.#verdict(layout.firewallIPs, key, { kind: 'goto', chain: firewall.chain.name });
    }
  }

  #nodePort(frontend: Frontend): void {
    const layout = this.#layout;
    const key = dataBytes(layout.nodePortNumbers.type, [this.#protocol, frontend.port]);
    const maps = { cluster: layout.nodePortClusterEndpoints, local: layout.nodePortLocalEndpoints };
    const target = this.#target(frontend, maps, []);
    if (target) this.#forward(layout.nodePortNumbers, layout.nodePortChains, key, target);
    this.#withoutEndpoints(frontend, layout.noEndpointNodePorts, key);
    this.#countAll(layout.nodePortConnections, frontend, key);
    this.#localhost(layout.localhostRejects, key);
  }

  /** A listener of the mode's own process serves loopback, if anything does. The table only rejects. */
  #localhost(rejects: NftMap | undefined, key: Buffer): void {
    if (!rejects) return;
    const { containsExplicitLoopback } = this.#context.options.nodePortAddresses;
    const isRejected = localhostNodePort(this.#plan, containsExplicitLoopback)?.kind === 'reject';
    if (isRejected) this.#verdict(rejects, key, { kind: 'goto', chain: LOCALHOST_REJECT_CHAIN });
  }

  #forward(numbers: NftMap, chains: NftMap, key: Buffer, { chain, number }: ChosenChain): void {
    if (number === undefined) {
      this.#verdict(chains, key, { kind: 'goto', chain });
      return;
    }
    const { targets } = this.#layout;
    this.#place(numbers, { key, data: dataBytes(numbers.data, [number]), comment: elementComment(this.#plan) });
    this.#place(targets, { key: dataBytes(targets.type, [number]), verdict: { kind: 'goto', chain } });
  }

  #withoutEndpoints(frontend: Frontend, map: NftMap, key: Buffer): void {
    const { action } = frontend;
    if (action !== 'forward') this.#verdict(map, key, denialPlace(this.#layout, frontend, action).verdict);
  }

  /** The counters exist before a packet is rejected or dropped, so that a short outage counts too. */
  #countAll(connections: NftSet | undefined, frontend: Frontend, key: Buffer): void {
    if (!connections) return;
    this.#count(connections, key);
    this.#count(denialPlace(this.#layout, frontend, 'reject').set, key);
    if (mayDrop(frontend)) this.#count(denialPlace(this.#layout, frontend, 'drop').set, key);
  }

  #count(set: NftSet | undefined, key: Buffer): void {
    if (set) this.#place(set, { key, comment: elementComment(this.#plan) });
  }

  /** The chain that a frontend's connections go to; undefined if none of them is forwarded. */
  #target(frontend: Frontend, maps: EndpointMaps, address: readonly string[]): ChosenChain | undefined {
    const { kind, action, policy, port, shortCircuit } = frontend;
    const { cluster, local } = slotsOf(this.#plan);
    const toCluster = () => this.#pick(maps.cluster, cluster, 'cluster', address, port);
    const toLocal = () => this.#pick(maps.local, local, 'local', address, port);
    const isForwarded = action === 'forward';
    if (kind === 'ClusterIP') {
      if (!isForwarded) return undefined;
      return policy === 'Local'
        ? this.#chosen(toLocal(), { kind: 'pick-local', cluster: 0, local: local.length })
        : this.#chosen(toCluster(), { kind: 'pick-cluster', cluster: cluster.length, local: 0 });
    }
    const outside = kind === 'NodePort' ? 'nodeport' : 'external';
    if (policy === 'Cluster') {
      if (!isForwarded) return undefined;
      const chain = this.#external(frontend, toCluster());
      return this.#chosen(chain, { kind: `${outside}-cluster`, cluster: cluster.length, local: 0 });
    }
    if (shortCircuit === 'none') return undefined;
    const chain = this.#external(frontend, toCluster(), isForwarded ? toLocal() : undefined);
    return this.#chosen(chain, {
      kind: `${outside}-local`,
      cluster: cluster.length,
      local: isForwarded ? local.length : 0,
    });
  }

  #chosen(chain: string, target: Target): ChosenChain {
    return { chain, number: this.#hasOwnPicks ? undefined : targetNumber(target) };
  }

  #external({ policy }: Frontend, pickCluster: string, pickLocal?: string): string {
    const { options } = this.#context;
    const make = (name: string) =>
      policy === 'Local'
        ? externalLocalChain(name, pickCluster, pickLocal, options)
        : externalClusterChain(name, pickCluster, options);
    if (this.#hasOwnPicks) {
      const name = `external-${servicePortBase(this.#plan)}`;
      this.#chain(make(name));
      return name;
    }
    const picks = [pickCluster, pickLocal ?? (policy === 'Local' ? 'none' : undefined)];
    const name = ['external', ...picks.flatMap(pick => pick?.replace(/^pick-/, '') ?? [])].join('-');
    this.#chain(this.#context.named(name, () => make(name)));
    return name;
  }

  /** The chain that picks one of the slots, with the elements that it needs. */
  #pick(map: NftMap, slots: readonly Endpoint[], scope: Scope, address: readonly string[], port: number): string {
    const plan = this.#plan;
    const isCounted = this.#hasOwnPicks && countsTurns(plan);
    if (this.#hasOwnPicks && !isCounted) return this.#ownPick(scope);
    slots.forEach((endpoint, slot) => {
      const key = dataBytes(map.type, [...address, this.#protocol, port, slot]);
      this.#place(map, { key, data: dataBytes(map.data, [endpoint.ip, endpoint.port]) });
    });
    if (isCounted) this.#chain(this.#context.named(slotChainName(scope), () => slotChain(this.#layout, scope)));
    const chain = isCounted ? turnChain(scope, plan, slots.length) : this.#context.pick(map, slots.length);
    this.#chain(chain);
    return chain.chain.name;
  }

  /** All frontends use the same chain. */
  #ownPick(scope: Scope): string {
    const name = ownPickName(scope, this.#plan);
    if (this.#chainNames.has(name)) return name;
    const { chain, table } = ownPick(this.#layout, scope, this.#plan);
    this.#chain(chain);
    if (table) {
      this.sets.push(table.map);
      this.tables.push(table);
    }
    return name;
  }

  #affinityEndpoints(): void {
    for (const endpoint of reachableEndpoints(this.#plan.endpoints)) {
      this.sets.push(affinitySet(this.#layout, this.#plan, endpoint));
      this.#chain(endpointChain(this.#layout, this.#plan, endpoint));
    }
  }

  /** A local endpoint that connects to itself must see the node as the caller, or its answer would bypass the node. */
  #hairpins(): void {
    const { hairpins } = this.#layout;
    for (const { ip, port, isLocal } of reachableEndpoints(this.#plan.endpoints)) {
      if (isLocal) this.#place(hairpins, { key: dataBytes(hairpins.type, [ip, ip, this.#protocol, port]) });
    }
  }

  #verdict(map: NftMap, key: Buffer, verdict: Verdict): void {
    this.#place(map, { key, verdict, comment: elementComment(this.#plan) });
  }

  #place(set: SetOrMap, element: Omit<Element, 'kind'>): void {
    this.elements.push({ set, element: { kind: 'element', ...element } });
  }

  /** Returns false if the chain was added before. */
  #chain(chain: ChainRules): boolean {
    const { name } = chain.chain;
    if (this.#chainNames.has(name)) return false;
    this.#chainNames.add(name);
    this.chains.push(chain);
    return true;
  }
}
