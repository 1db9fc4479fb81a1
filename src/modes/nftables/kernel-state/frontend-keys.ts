import { dataBytes, type SetOrMap } from '../../../kernel/nftables/index.ts';
import type { ServicePortPlan } from '../../../plan/index.ts';
import type { Layout } from '../table/layout.ts';

/** The elements of one frontend in a map of endpoints. */
export interface Slots {
  readonly set: SetOrMap;
  readonly key: (slot: number) => Buffer;
}

/** Every map and set that can have an element for a frontend of the plan, with the key of that element. */
export function* frontendKeys(
  layout: Layout,
  { frontends, port }: ServicePortPlan,
): Generator<{ set: SetOrMap; key: Buffer }> {
  const protocol = port.protocol.toLowerCase();
  for (const { ip, port: number } of frontends) {
    const key = dataBytes(
      ip === undefined ? layout.nodePortNumbers.type : layout.serviceNumbers.type,
      ip === undefined ? [protocol, number] : [ip, protocol, number],
    );
    const sets =
      ip === undefined
        ? [layout.nodePortNumbers, layout.nodePortChains, layout.noEndpointNodePorts, layout.localhostRejects]
        : [layout.serviceNumbers, layout.serviceChains, layout.noEndpointServices, layout.firewallIPs];
    for (const set of sets) if (set) yield { set, key };
  }
}

/** Every map that can have endpoints of a frontend of the plan. */
export function* endpointSlots(layout: Layout, { frontends, port }: ServicePortPlan): Generator<Slots> {
  const protocol = port.protocol.toLowerCase();
  for (const { ip, port: number } of frontends) {
    const sets =
      ip === undefined
        ? [layout.nodePortClusterEndpoints, layout.nodePortLocalEndpoints]
        : [layout.clusterEndpoints, layout.localEndpoints];
    const address = ip === undefined ? [] : [ip];
    for (const set of sets) yield { set, key: slot => dataBytes(set.type, [...address, protocol, number, slot]) };
  }
}
