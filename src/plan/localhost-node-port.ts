import type { Protocol } from '../api/index.ts';
import type { Endpoint } from '../model/index.ts';
import { type ServicePortPlan, slotsOf } from './service-port-plan.ts';

/** What a connection to a node port at a loopback address gets, in a mode that serves loopback by listeners. */
export type LocalhostNodePort = LocalhostListener | LocalhostReject;

/** A process of the node listens at the port, and copies what it receives to an endpoint. */
export interface LocalhostListener {
  readonly kind: 'listen';
  readonly protocol: 'TCP' | 'UDP';
  readonly port: number;
  /** At least one. Policy Local has no short circuit here: only local endpoints serve. */
  readonly endpoints: readonly Endpoint[];
  /** The same by slot. */
  readonly slots: readonly Endpoint[];
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
export function localhostNodePort(plan: ServicePortPlan, isServed: boolean): LocalhostNodePort | undefined {
  const {
    frontends,
    port: { protocol },
    endpoints: chosen,
  } = plan;
  const nodePort = frontends.find(({ kind }) => kind === 'NodePort');
  if (!nodePort) return undefined;
  const { port, policy } = nodePort;
  if (!isServed || protocol === 'SCTP') return { kind: 'reject', protocol, port };
  const name = policy === 'Local' ? 'local' : 'cluster';
  const endpoints = chosen[name];
  if (endpoints.length === 0) return undefined;
  return { kind: 'listen', protocol, port, endpoints, slots: slotsOf(plan)[name] };
}
