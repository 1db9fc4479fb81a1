import {
  constant,
  type DataType,
  dnatToMap,
  goto,
  host32,
  ipSaddr,
  jhash,
  map as lookUp,
  match,
  metaPriority,
  type NftMap,
  numgen,
  type Selector,
  setPriority,
  thSport,
} from '../../../kernel/nftables/index.ts';
import type { Endpoint } from '../../../model/index.ts';
import { type Balance, type ServicePortPlan, slotsOf } from '../../../plan/index.ts';
import { servicePortBase } from '../names.ts';
import { type ChainRules, chainRules, type RuleBody } from './chain-rules.ts';
import type { Layout } from './layout.ts';
import { affinityPick, endpointChainName, toKnownEndpoint } from './own-chains.ts';
import { type Scope, slotChainName } from './shared-chains.ts';
import { SlotTable } from './slot-table.ts';

// A counter of turns belongs to one service port, so the chain that counts does too. A consistent hash needs thousands
// of slots, so its service port has a map of its own, which all its frontends use. Counters do without such maps,
// because the kernel looks for a map by its name in a list of all of them.

/** A chain that picks an endpoint, with the map that it needs. */
export interface OwnPick {
  readonly chain: ChainRules;
  /** Undefined if the chain needs no map. */
  readonly table: SlotTable | undefined;
}

/** All nodes hash with the same seed, so that a client gets the same endpoint through each of them. */
const HASH_SEED = 0x706d6e31;

/** Maps to the address and port of an endpoint, and maps to the number of an endpoint. */
const MAPS: Readonly<Record<Scope, { readonly endpoints: string; readonly numbers: string }>> = {
  cluster: { endpoints: 'slots', numbers: 'choices' },
  local: { endpoints: 'local-slots', numbers: 'local-choices' },
};
const MAP_NAME = /^(local-)?(slots|choices)-/;
const SLOT: DataType = 'mark';

/** Whether a map with this name belongs to one service port. */
export function isOwnMap(name: string): boolean {
  return MAP_NAME.test(name);
}

/** Whether the service port has pick chains of its own. Others share theirs. */
export function hasOwnPicks({ port, balance }: ServicePortPlan): boolean {
  return port.affinitySeconds > 0 || takesTurns(balance) || balance?.algorithm === 'consistent-hash';
}

export function ownPickName(scope: Scope, plan: ServicePortPlan): string {
  return `${scope === 'local' ? 'local' : 'service'}-${servicePortBase(plan)}`;
}

/** Whether the own chain counts turns, and the shared maps have the endpoints. */
export function countsTurns({ port, balance }: ServicePortPlan): boolean {
  return port.affinitySeconds === 0 && takesTurns(balance);
}

/** The chain chooses the next slot. A shared chain finds the endpoint of the slot. */
export function turnChain(scope: Scope, plan: ServicePortPlan, count: number): ChainRules {
  return chainRules(ownPickName(scope, plan), [[...setPriority(numgen('inc', count)), goto(slotChainName(scope))]]);
}

/** The own chain of a service port. Clients that an endpoint remembers come to that endpoint again. */
export function ownPick(layout: Layout, scope: Scope, plan: ServicePortPlan): OwnPick {
  const hasAffinity = plan.port.affinitySeconds > 0;
  const { balance } = plan;
  if (balance && !isEven(balance)) {
    return hasAffinity ? affinitySlots(layout, scope, plan, balance) : hashPick(layout, scope, plan, balance);
  }
  const chain = affinityPick(layout, ownPickName(scope, plan), plan, plan.endpoints[scope]);
  return { chain, table: undefined };
}

/** Each endpoint has the same chance, as without a choice. */
function isEven({ algorithm, weights }: Balance): boolean {
  return weights === undefined && (algorithm === undefined || algorithm === 'random' || algorithm === 'weighted');
}

function takesTurns(balance: Balance | undefined): boolean {
  return balance?.algorithm === 'round-robin' || balance?.algorithm === 'least-connections';
}

function hashPick(layout: Layout, scope: Scope, plan: ServicePortPlan, balance: Balance): OwnPick {
  const slots = slotsOf(plan)[scope];
  const map = ownMap(MAPS[scope].endpoints, plan, layout.clusterEndpoints.data);
  const slot = slotSelector(layout, balance, slots.length);
  return {
    chain: chainRules(ownPickName(scope, plan), [dnatToMap(layout.nft, [slot], map.name)]),
    table: new SlotTable(map, slots, { id: ({ text }) => text, data: ({ ip, port }) => [ip, port] }),
  };
}

/**
 * For session affinity with any algorithm. The map gives the number of an endpoint and not its address, because the chain
 * of the endpoint must also remember the client. The packet's priority carries the number from the map to the rule that
 * goes to that chain.
 */
function affinitySlots(layout: Layout, scope: Scope, plan: ServicePortPlan, balance: Balance): OwnPick {
  const slots = slotsOf(plan)[scope];
  const endpoints = plan.endpoints[scope];
  const map = ownMap(MAPS[scope].numbers, plan, [SLOT]);
  const numbers = new Map(endpoints.map(({ text }, i) => [text, i + 1]));
  const numberOf = ({ text }: Endpoint) => numbers.get(text) ?? 0;
  const slot = slotSelector(layout, balance, slots.length);
  const known = endpoints.map((endpoint): RuleBody => [toKnownEndpoint(layout, plan, endpoint)]);
  const chosen = endpoints.map((endpoint, i): RuleBody => {
    const isChosen = match(metaPriority, 'eq', host32(i + 1));
    return [[...isChosen, ...setPriority(constant(host32(0))), goto(endpointChainName(plan, endpoint))]];
  });
  const choose: RuleBody = [setPriority(lookUp([slot], map.name, 4))];
  return {
    chain: chainRules(ownPickName(scope, plan), ...known, choose, ...chosen),
    table: new SlotTable(map, slots, { id: numberOf, data: endpoint => [numberOf(endpoint)] }),
  };
}

function ownMap(prefix: string, plan: ServicePortPlan, data: readonly DataType[]): NftMap {
  return { kind: 'map', name: `${prefix}-${servicePortBase(plan)}`, type: [SLOT], data };
}

function slotSelector({ nft }: Layout, balance: Balance, count: number): Selector {
  if (takesTurns(balance)) return numgen('inc', count);
  if (balance.algorithm !== 'consistent-hash') return numgen('random', count);
  const input = balance.hashBy === 'client-address' ? [ipSaddr(nft)] : [ipSaddr(nft), thSport];
  return jhash(input, count, HASH_SEED);
}
