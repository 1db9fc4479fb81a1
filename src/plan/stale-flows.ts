import type { Protocol } from '../api/index.ts';
import { NONE } from '../lib/none.ts';
import { isExternallyAccessible, type ServicePort, type ServiceState } from '../model/index.ts';
import { joinHostPort } from '../net/index.ts';
import { endpointsOf } from './service-port-plan.ts';

/** A flow that the kernel remembers. */
export interface Flow {
  readonly protocol: Protocol;
  /** Where the client sends. */
  readonly destination: { readonly ip: string; readonly port: number };
  /** The endpoint that answers. */
  readonly answeredBy: { readonly ip: string; readonly port: number };
}

/**
 * Protocols whose flows the kernel keeps when the endpoint is gone. A client that goes on sending from the same port
 * would never reach another endpoint. A TCP client notices the loss and connects again.
 */
export const STALE_PROTOCOLS: readonly Protocol[] = ['UDP', 'SCTP'];

/**
 * Returns a function that recognises stale flows: those to an endpoint that no longer serves, and those that go to no
 * endpoint. Without an endpoint the kernel would reject only new flows, and a client that goes on sending would keep
 * its flow for ever. A flow to a node port counts whatever its destination address is. So it is not stale if the
 * service port has no endpoint: it may be a flow to another machine that uses the same port.
 */
export function staleFlowTest(services: Iterable<ServiceState>, allowExternalIPs: boolean): (flow: Flow) => boolean {
  const byAddress = new Map<string, ReadonlySet<string>>();
  const byNodePort = new Map<string, ReadonlySet<string>>();
  for (const service of services) {
    for (const port of service.ports) {
      if (port.protocol === 'TCP') continue;
      const answering = answeringEndpoints(service, port);
      for (const ip of addressesOf(port, allowExternalIPs)) {
        byAddress.set(`${port.protocol} ${joinHostPort(ip, port.port)}`, answering);
      }
      if (port.nodePort !== 0 && answering.size > 0) byNodePort.set(`${port.protocol} ${port.nodePort}`, answering);
    }
  }
  return ({ protocol, destination, answeredBy }) => {
    if (protocol === 'TCP') return false;
    const answering =
      byAddress.get(`${protocol} ${joinHostPort(destination.ip, destination.port)}`) ??
      byNodePort.get(`${protocol} ${destination.port}`);
    return answering !== undefined && !answering.has(joinHostPort(answeredBy.ip, answeredBy.port));
  };
}

/** The addresses and ports, without node ports, of all TCP service ports: `10.96.0.1:80`. */
export function tcpFrontends(services: Iterable<ServiceState>, allowExternalIPs: boolean): ReadonlySet<string> {
  const frontends = new Set<string>();
  for (const { ports } of services) {
    for (const port of ports) {
      if (port.protocol !== 'TCP') continue;
      for (const ip of addressesOf(port, allowExternalIPs)) frontends.add(joinHostPort(ip, port.port));
    }
  }
  return frontends;
}

/**
 * For UDP the endpoints that serve. SCTP has connections: an association may end in order on an endpoint that takes no
 * new ones, so all endpoints count.
 */
function answeringEndpoints(service: ServiceState, port: ServicePort): ReadonlySet<string> {
  const endpoints = endpointsOf(service, port).filter(({ serving }) => serving || port.protocol === 'SCTP');
  return new Set(endpoints.map(({ text }) => text));
}

/** The addresses of a service port that the proxy translates, without those of the node. */
export function addressesOf(port: ServicePort, allowExternalIPs: boolean): readonly string[] {
  if (!isExternallyAccessible(port)) return [port.clusterIP];
  return [port.clusterIP, ...port.loadBalancerVIPs, ...(allowExternalIPs ? port.externalIPs : NONE)];
}
