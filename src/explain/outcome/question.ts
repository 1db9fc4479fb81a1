import type { Protocol, Service } from '../../api/index.ts';
import type { ConfiguredMode, ModeSettings } from '../../modes/index.ts';
import { type Ip, isLoopback } from '../../net/index.ts';
import type { Planner } from '../../plan/index.ts';
import type { Caller } from '../caller.ts';

/** Where a connection goes. */
export interface Destination {
  readonly ip: Ip;
  readonly port: number;
  readonly protocol: Protocol;
}

/** A new connection. */
export interface Question {
  readonly caller: Caller;
  readonly destination: Destination;
}

/** What an outcome depends on besides the plans and the question, for one family. */
export interface OutcomeContext {
  readonly mode: Pick<ConfiguredMode, 'behaviour'>;
  readonly settings: Pick<
    ModeSettings,
    'localDetector' | 'masqueradeAll' | 'nodePortAddresses' | 'nodePortIPs' | 'serviceCIDRs'
  >;
  /** The addresses of the node's interfaces, without those that the mode manages. */
  readonly nodeIPs: readonly Ip[];
}

/** Finds frontends. The planner of the family is one. */
export type FrontendIndex = Pick<Planner, 'frontendAt' | 'lostFrontendsAt' | 'frontendsWithIP'>;

export interface OutcomeInput extends OutcomeContext, Question {
  readonly frontends: FrontendIndex;
  /** The Services, to name the one that mentions an address at which this proxy serves nothing. */
  readonly services?: (() => Iterable<Service>) | undefined;
}

/** Whether packets to the address stay on the node. */
export function isNodeIP({ nodeIPs }: Pick<OutcomeContext, 'nodeIPs'>, ip: Ip): boolean {
  return isLoopback(ip) || nodeIPs.includes(ip);
}
