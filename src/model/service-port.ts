import type { Protocol } from '../api/index.ts';
import { sameList } from '../lib/same-list.ts';
import type { Cidr, Ip } from '../net/index.ts';
import { type ServiceOptions, sameOptions } from './service-options.ts';

/** One port of a Service in one IP family. Addresses are in canonical form. */
export interface ServicePort {
  /** Empty if the port has no name. */
  readonly name: string;
  readonly protocol: Protocol;
  readonly clusterIP: Ip;
  readonly port: number;
  /** 0 if there is none. It counts whatever the Service's type is. */
  readonly nodePort: number;
  readonly externalIPs: readonly Ip[];
  readonly loadBalancerVIPs: readonly Ip[];
  /** Empty if every client may connect. */
  readonly loadBalancerSourceRanges: readonly Cidr[];
  /** How long a client keeps its endpoint with ClientIP session affinity. 0 means no affinity. */
  readonly affinitySeconds: number;
  readonly internalPolicyLocal: boolean;
  readonly externalPolicyLocal: boolean;
  /** 0 if there is none. */
  readonly healthCheckNodePort: number;
  /** How ipvs mode chooses an endpoint: `rr`, `lc`, …. Empty means the configured scheduler. */
  readonly scheduler: string;
  readonly options: ServiceOptions;
}

/** `ns/name`, or `ns/name:port` for a port with a name. */
export function servicePortName(service: string, portName: string): string {
  return portName === '' ? service : `${service}:${portName}`;
}

export function isExternallyAccessible(port: ServicePort): boolean {
  return port.nodePort !== 0 || port.loadBalancerVIPs.length > 0 || port.externalIPs.length > 0;
}

/** External policy Local uses them too: connections of pods and of the node itself go to them. */
export function usesClusterEndpoints(port: ServicePort): boolean {
  return !port.internalPolicyLocal || isExternallyAccessible(port);
}

export function usesLocalEndpoints(port: ServicePort): boolean {
  return port.internalPolicyLocal || (port.externalPolicyLocal && isExternallyAccessible(port));
}

export function sameServicePorts(a: readonly ServicePort[], b: readonly ServicePort[]): boolean {
  return sameList(a, b, sameServicePort);
}

export function sameServicePort(a: ServicePort, b: ServicePort): boolean {
  return (
    a.name === b.name &&
    a.protocol === b.protocol &&
    a.clusterIP === b.clusterIP &&
    a.port === b.port &&
    a.nodePort === b.nodePort &&
    a.affinitySeconds === b.affinitySeconds &&
    a.internalPolicyLocal === b.internalPolicyLocal &&
    a.externalPolicyLocal === b.externalPolicyLocal &&
    a.healthCheckNodePort === b.healthCheckNodePort &&
    a.scheduler === b.scheduler &&
    sameOptions(a.options, b.options) &&
    sameList(a.externalIPs, b.externalIPs) &&
    sameList(a.loadBalancerVIPs, b.loadBalancerVIPs) &&
    sameList(a.loadBalancerSourceRanges, b.loadBalancerSourceRanges, sameCidr)
  );
}

function sameCidr(a: Cidr, b: Cidr): boolean {
  return a.address === b.address && a.prefix === b.prefix;
}
