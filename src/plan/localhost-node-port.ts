import type { Protocol } from '../api/index.ts';
import type { Endpoint } from '../model/index.ts';
import type { ServicePortPlan } from './service-port-plan.ts';

/** What a connection to a node port at a loopback address gets, in a mode that serves loopback by listeners. */
export type LocalhostNodePort = LocalhostListener | LocalhostReject;

/** A process of the node listens at the port, and copies what it receives to an endpoint. */
export interface LocalhostListener {
  readonly kind: 'listen';
  readonly protocol: 'TCP' | 'UDP';
  readonly port: number;
  /** At least one. Policy Local has no short circuit here: only local endpoints serve. */
  readonly endpoints: readonly Endpoint[];
}

export interface LocalhostReject {
  readonly kind: 'reject';
  readonly protocol: Protocol;
  readonly port: number;
}

/**
 * Undefined if the plan has no node port, or if the node port is served and has no endpoint: then nothing listens, and
 * the kernel refuses. `isServed`: the operator lists loopback among the addresses that accept node ports.
 */
export function localhostNodePort(
  { frontends, port: { protocol }, endpoints: chosen }: ServicePortPlan,
  isServed: boolean,
): LocalhostNodePort | undefined {
  const nodePort = frontends.find(({ kind }) => kind === 'NodePort');
  if (!nodePort) return undefined;
  const { port, policy } = nodePort;
  if (!isServed || protocol === 'SCTP') return { kind: 'reject', protocol, port };
  const endpoints = policy === 'Local' ? chosen.local : chosen.cluster;
  return endpoints.length === 0 ? undefined : { kind: 'listen', protocol, port, endpoints };
}
