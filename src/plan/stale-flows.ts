import type { Protocol } from '../api/index.ts';
import { isExternallyAccessible, NONE, type ServicePort, type ServiceState } from '../model/index.ts';
import { joinHostPort } from '../net/index.ts';
import { endpointsOf } from './service-port-plan.ts';

/** A flow that the kernel remembers: where a client sent it, and who answers it. */
export interface Flow {
  readonly protocol: Protocol;
  readonly destination: { readonly ip: string; readonly port: number };
  readonly answeredBy: { readonly ip: string; readonly port: number };
}

/**
 * Protocols whose flows outlive their endpoint in the kernel: a client that goes on sending from the same port would
 * never reach another endpoint. TCP clients notice and connect anew.
 */
export const STALE_PROTOCOLS: readonly Protocol[] = ['UDP', 'SCTP'];

/**
 * Tells which flows go to an endpoint that may no longer answer them, or were never steered to one though the Service
 * now has some. Flows of a Service without usable endpoints stay. A node port counts at whatever address it was sent to.
 */
export function staleFlows(services: Iterable<ServiceState>, allowExternalIPs: boolean): (flow: Flow) => boolean {
  const byAddress = new Map<string, ReadonlySet<string>>();
  const byNodePort = new Map<string, ReadonlySet<string>>();
  for (const service of services) {
    for (const port of service.ports) {
      if (port.protocol === 'TCP') continue;
      const answering = answeringEndpoints(service, port);
      if (answering.size === 0) continue;
      for (const ip of addressesOf(port, allowExternalIPs)) {
        byAddress.set(`${port.protocol} ${joinHostPort(ip, port.port)}`, answering);
      }
      if (port.nodePort !== 0) byNodePort.set(`${port.protocol} ${port.nodePort}`, answering);
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

/**
 * UDP: endpoints that serve. SCTP is connected, so an association may end in peace on an endpoint that is still there
 * but serves no new ones.
 */
function answeringEndpoints(service: ServiceState, port: ServicePort): ReadonlySet<string> {
  const endpoints = endpointsOf(service, port);
  const serving = endpoints.filter(({ serving }) => serving);
  if (serving.length === 0) return new Set();
  return new Set((port.protocol === 'SCTP' ? endpoints : serving).map(({ text }) => text));
}

function addressesOf(port: ServicePort, allowExternalIPs: boolean): readonly string[] {
  if (!isExternallyAccessible(port)) return [port.clusterIP];
  return [port.clusterIP, ...port.loadBalancerVIPs, ...(allowExternalIPs ? port.externalIPs : NONE)];
}
