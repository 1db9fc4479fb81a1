import { LABEL_SERVICE_PROXY_NAME, type Service } from '../api/index.ts';
import { shouldSkipService } from '../model/index.ts';
import { type Frontend, reachableEndpoints, type ServicePortPlan } from '../plan/index.ts';
import type { ListingContext } from './services-context.ts';

/**
 * From the worst to the best. A Service has the first one that is true.
 *
 * setAside          the kernel refused a port
 * conflict          an address belongs to another Service
 * problem           the object, or one of its EndpointSlices, cannot be used as it is
 * noEndpoints       a port has no endpoint that can serve
 * noLocalEndpoints  a policy is Local, and this node has no endpoint
 * waiting           the kernel does not have the last changes yet
 * programmed        the kernel has it
 * notProxied        the proxy has nothing to do for it
 */
const SERVICE_STATES = [
  'setAside',
  'conflict',
  'problem',
  'noEndpoints',
  'noLocalEndpoints',
  'waiting',
  'programmed',
  'notProxied',
] as const;

export type ServiceState = (typeof SERVICE_STATES)[number];

const BROKEN: ReadonlySet<ServiceState> = new Set(SERVICE_STATES.slice(0, 5));

/** Some callers that connect to the Service on this node get no answer. */
export function isBroken(state: ServiceState): boolean {
  return BROKEN.has(state);
}

export interface StateAndReasons {
  readonly state: ServiceState;
  readonly reasons: readonly string[];
}

interface Finding {
  readonly state: ServiceState;
  readonly reason: string;
}

/** `plans` has the plans of all families. */
export function stateOf(
  service: Service,
  key: string,
  plans: readonly ServicePortPlan[],
  context: ListingContext,
): StateAndReasons {
  const skipped = skipReason(service);
  if (skipped !== undefined) return { state: 'notProxied', reasons: [skipped] };
  const findings = [
    ...(context.setAside.get(key) ?? []).map((reason): Finding => ({ state: 'setAside', reason })),
    ...(context.problems.get(key) ?? []).map((reason): Finding => ({ state: 'problem', reason })),
    ...plans.flatMap(plan => planFindings(plan, context)),
  ];
  const state = SERVICE_STATES.find(known => findings.some(finding => finding.state === known));
  if (state) return { state, reasons: [...new Set(findings.map(({ reason }) => reason))] };
  if (context.isWaiting(key)) return { state: 'waiting', reasons: [] };
  if (plans.length > 0) return { state: 'programmed', reasons: [] };
  return { state: 'notProxied', reasons: ['it has no cluster IP of a family that this node serves'] };
}

function skipReason(service: Service): string | undefined {
  const { metadata, spec } = service;
  const other = metadata.labels[LABEL_SERVICE_PROXY_NAME];
  if (other !== undefined) return `the label ${LABEL_SERVICE_PROXY_NAME} names another proxy`;
  if (!shouldSkipService(service)) return undefined;
  return spec.type === 'ExternalName' ? 'a DNS name only' : 'headless';
}

function planFindings(plan: ServicePortPlan, { allEndpoints }: ListingContext): readonly Finding[] {
  const findings: Finding[] = plan.conflicts.map(({ frontend, owner }) => ({
    state: 'conflict',
    reason: `${addressText(frontend)} belongs to Service ${owner}`,
  }));
  const port = `port ${plan.port.name || `${plan.port.port}/${plan.port.protocol}`}`;
  if (!plan.endpoints.hasEndpoints) {
    const all = allEndpoints(plan);
    const reason = all === 0 ? `${port} has no endpoints` : `${port}: none of ${all} endpoints can serve`;
    findings.push({ state: 'noEndpoints', reason });
  } else if (plan.frontends.some(({ action }) => action === 'drop')) {
    const isInternal = plan.frontends.some(({ action, kind }) => action === 'drop' && kind === 'ClusterIP');
    const policy = isInternal ? 'internalTrafficPolicy' : 'externalTrafficPolicy';
    findings.push({
      state: 'noLocalEndpoints',
      reason: `${port}: ${policy} is Local, and no endpoint is on this node`,
    });
  } else if (reachableEndpoints(plan.endpoints).length === 0) {
    findings.push({ state: 'noEndpoints', reason: `${port} has no endpoint for this node` });
  }
  return findings;
}

function addressText({ kind, ip, port }: Frontend): string {
  return ip === undefined ? `${kind} ${port}` : `${kind} ${ip}:${port}`;
}
