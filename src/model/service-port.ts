import type { Protocol } from '../api/index.ts';
import type { Cidr, Ip } from '../net/index.ts';

/** One port of a Service in one IP family: all that a proxy needs to know of it, addresses in canonical form. */
export interface ServicePort {
  /** The port's name; empty if it has none. */
  readonly name: string;
  readonly protocol: Protocol;
  readonly clusterIP: Ip;
  readonly port: number;
  /** 0: none. Honoured whatever the Service's type. */
  readonly nodePort: number;
  readonly externalIPs: readonly Ip[];
  readonly loadBalancerVIPs: readonly Ip[];
  /** Empty: no restriction. */
  readonly loadBalancerSourceRanges: readonly Cidr[];
  /** ClientIP session affinity: for how long a client keeps its endpoint. 0: no affinity. */
  readonly affinitySeconds: number;
  readonly internalPolicyLocal: boolean;
  readonly externalPolicyLocal: boolean;
  /** 0: none. */
  readonly healthCheckNodePort: number;
  /** How ipvs chooses an endpoint: `rr`, `lc`, …. Empty: as configured. */
  readonly scheduler: string;
  /** How userspace mode chooses an endpoint. */
  readonly balance: Balance;
}

export type Balance = 'round-robin' | 'least-connections';

/** `ns/name`, or `ns/name:port` for a named port. The protocol is not part of it. */
export function servicePortName(service: string, portName: string): string {
  return portName === '' ? service : `${service}:${portName}`;
}

export function isExternallyAccessible(port: ServicePort): boolean {
  return port.nodePort !== 0 || port.loadBalancerVIPs.length > 0 || port.externalIPs.length > 0;
}

/** A Service with external policy Local needs them too: pods and the node itself are short-circuited to them. */
export function usesClusterEndpoints(port: ServicePort): boolean {
  return !port.internalPolicyLocal || isExternallyAccessible(port);
}

export function usesLocalEndpoints(port: ServicePort): boolean {
  return port.internalPolicyLocal || (port.externalPolicyLocal && isExternallyAccessible(port));
}

export function sameServicePorts(a: readonly ServicePort[], b: readonly ServicePort[]): boolean {
  return a === b || (a.length === b.length && a.every((port, i) => sameServicePort(port, b[i])));
}

export function sameServicePort(a: ServicePort, b: ServicePort | undefined): boolean {
  return (
    b !== undefined &&
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
    a.balance === b.balance &&
    sameTexts(a.externalIPs, b.externalIPs) &&
    sameTexts(a.loadBalancerVIPs, b.loadBalancerVIPs) &&
    sameCidrs(a.loadBalancerSourceRanges, b.loadBalancerSourceRanges)
  );
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i]);
}

function sameCidrs(a: readonly Cidr[], b: readonly Cidr[]): boolean {
  return a.length === b.length && a.every((cidr, i) => cidr.address === b[i]?.address && cidr.prefix === b[i]?.prefix);
}
