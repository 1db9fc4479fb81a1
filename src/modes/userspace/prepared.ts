import type { ServicePortPlan } from '../../plan/index.ts';
import type { Claim } from './port-claims.ts';
import type { PortalRule, ProxyPorts } from './render.ts';

/** What is prepared for one service port before its rules are written. */
export interface Prepared {
  readonly plan: ServicePortPlan | undefined;
  readonly ports: ProxyPorts;
  readonly claims: readonly Claim[];
  readonly rules: readonly PortalRule[];
  /** Why the service port, or a part of it, is set aside. */
  readonly problem?: string | undefined;
}

export const NOTHING: Prepared = { plan: undefined, ports: {}, claims: [], rules: [] };
