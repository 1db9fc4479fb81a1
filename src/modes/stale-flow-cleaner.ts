import type { Protocol } from '../api/index.ts';
import { type Flow as ConntrackFlow, ConntrackSocket, L4 } from '../kernel/conntrack/index.ts';
import { withModuleAdvice } from '../kernel/errors.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';
import type { ServiceState } from '../model/index.ts';
import type { Family } from '../net/index.ts';
import { type Flow, STALE_PROTOCOLS, staleFlowTest } from '../plan/index.ts';

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

  async #find(
    family: Family,
    protocol: Protocol,
    isStale: (flow: Flow) => boolean,
    onFound: (flow: Flow) => void,
  ): Promise<readonly ConntrackFlow[]> {
    const stale: ConntrackFlow[] = [];
    for await (const flow of this.#socket.stream({ family, protocol: L4[protocol] })) {
      const candidate = asFlow(protocol, flow);
      if (!candidate || !isStale(candidate)) continue;
      onFound(candidate);
      stale.push(flow);
    }
    return stale;
  }

  close(): void {
    this.#socket.close();
  }
}

function asFlow(protocol: Protocol, { original, reply }: ConntrackFlow): Flow | undefined {
  if (original.dstPort === undefined || reply.srcPort === undefined) return undefined;
  return {
    protocol,
    destination: { ip: original.dst, port: original.dstPort },
    answeredBy: { ip: reply.src, port: reply.srcPort },
  };
}
