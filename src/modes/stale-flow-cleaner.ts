import type { Protocol } from '../api/index.ts';
import { type Flow as ConntrackFlow, ConntrackSocket, L4, Status } from '../kernel/conntrack/index.ts';
import { withModuleAdvice } from '../kernel/errors.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';
import type { ServiceState } from '../model/index.ts';
import { type Family, joinHostPort } from '../net/index.ts';
import { type Flow, STALE_PROTOCOLS, staleFlowTest, tcpFrontends } from '../plan/index.ts';
import { flowEnds } from './flow-ends.ts';

/** Makes the kernel forget flows to endpoints that are gone. */
export class StaleFlowCleaner {
  readonly #socket: ConntrackSocket;

  constructor(namespace?: NetworkNamespace) {
    this.#socket = ConntrackSocket.open({ namespace });
  }

  /**
   * Returns how many flows it deleted, without those that ended by themselves. Calls `onFound` for each stale flow
   * before it deletes the flow.
   */
  async clean(
    family: Family,
    services: Iterable<ServiceState>,
    allowExternalIPs: boolean,
    onFound: (flow: Flow) => void = () => {},
  ): Promise<number> {
    const isStale = staleFlowTest(services, allowExternalIPs);
    let deleted = 0;
    try {
      for (const protocol of STALE_PROTOCOLS) {
        const stale = await this.#find(family, protocol, isStale, onFound);
        if (stale.length > 0) deleted += (await this.#socket.delete(stale)).deleted;
      }
    } catch (error) {
      throw withModuleAdvice(error, 'nf_conntrack_netlink');
    }
    return deleted;
  }

  /**
   * Deletes attempts to connect to a frontend that went out while no rule translated them. The kernel keeps such a flow
   * for two minutes and does not translate its packets. So the client's next packets, and its next connection from the
   * same port, would be lost, although the rules exist by now.
   */
  async cleanLostAttempts(
    family: Family,
    services: Iterable<ServiceState>,
    allowExternalIPs: boolean,
  ): Promise<number> {
    const frontends = tcpFrontends(services, allowExternalIPs);
    if (frontends.size === 0) return 0;
    const lost: ConntrackFlow[] = [];
    for await (const flow of this.#socket.stream({ family, protocol: L4.TCP })) {
      const { status = Status.SEEN_REPLY, original, reply } = flow;
      if (status & Status.SEEN_REPLY || original.dst !== reply.src) continue;
      if (frontends.has(joinHostPort(original.dst, original.dstPort))) lost.push(flow);
    }
    return lost.length === 0 ? 0 : (await this.#socket.delete(lost)).deleted;
  }

  async #find(
    family: Family,
    protocol: Protocol,
    isStale: (flow: Flow) => boolean,
    onFound: (flow: Flow) => void,
  ): Promise<readonly ConntrackFlow[]> {
    const stale: ConntrackFlow[] = [];
    for await (const flow of this.#socket.stream({ family, protocol: L4[protocol] })) {
      const candidate = { protocol, ...flowEnds(flow) };
      if (!isStale(candidate)) continue;
      onFound(candidate);
      stale.push(flow);
    }
    return stale;
  }

  close(): void {
    this.#socket.close();
  }
}
