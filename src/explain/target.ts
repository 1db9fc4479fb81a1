import {
  type EndpointSlice,
  LABEL_SERVICE_PROXY_NAME,
  objectKey,
  type Protocol,
  type Service,
  type ServicePortSpec,
} from '../api/index.ts';
import { FAMILIES, type Family, familyOf, type Ip } from '../net/index.ts';
import type { Frontend, ServicePortPlan } from '../plan/index.ts';
import { type AddressUse, findAddressUse } from './connection-outcome.ts';
import type { Facts } from './facts.ts';
import type { Finding } from './finding.ts';
import { addressOfOtherFamily, noFrontend } from './near-misses/address.ts';
import { noSuchService } from './near-misses/no-such-service.ts';
import { lostFrontend, noPlan, noSuchPort, notServed } from './near-misses/service.ts';
import { nodeIPsOf } from './node-addresses.ts';
import { type Destination, matchFrontend } from './outcome/index.ts';
import type { AddressTarget, From, OperatorQuestion, ServiceTarget } from './question.ts';

/** A frontend, and the address of the connection. */
export interface MetFrontend {
  readonly family: Family;
  readonly plan: ServicePortPlan;
  readonly frontend: Frontend;
  /** For a node port, the address of the node that is called. */
  readonly ip: Ip;
  readonly port: number;
  readonly protocol: Protocol;
}

export type Resolved =
  | { readonly kind: 'frontend'; readonly met: MetFrontend }
  /** The operator named a Service with several ports, and no port. */
  | { readonly kind: 'ports'; readonly service: string; readonly ports: readonly (MetFrontend | Finding)[] }
  /** No frontend of the proxy. The finding says why, as far as that is known. */
  | {
      readonly kind: 'none';
      readonly finding: Finding;
      /** `ns/name` */
      readonly service?: string | undefined;
      /** Where packets go, to find out what they get. Absent if nothing has this address. */
      readonly destination?: Destination;
      readonly use?: AddressUse;
    };

/** Finds what the operator asks about. */
export async function resolveTarget({ to, from }: OperatorQuestion, facts: Facts): Promise<Resolved> {
  return to.kind === 'service' ? await resolveService(to, from, facts) : await resolveAddress(to, facts);
}

export function isFinding(found: MetFrontend | Finding): found is Finding {
  return 'topic' in found;
}

async function resolveService(target: ServiceTarget, from: From, facts: Facts): Promise<Resolved> {
  const key = objectKey(target);
  const service = facts.objects.service(key);
  if (!service) return { kind: 'none', service: key, finding: await noSuchService(key, facts) };
  if (isOfOtherProxy(service) || isWithoutClusterIP(service)) {
    return { kind: 'none', service: key, finding: notServed(service) };
  }
  const ports = portsOf(service, target);
  const [first, ...more] = ports;
  if (!first) return { kind: 'none', service: key, finding: noSuchPort(service, target) };
  const found = ports.map(port => frontendOf(service, port, from, facts));
  if (more.length > 0 && target.port === undefined) return { kind: 'ports', service: key, ports: found };
  const [only] = found;
  if (!only || isFinding(only)) return { kind: 'none', service: key, finding: only ?? noSuchPort(service, target) };
  return { kind: 'frontend', met: only };
}

function isOfOtherProxy({ metadata }: Service): boolean {
  return LABEL_SERVICE_PROXY_NAME in metadata.labels;
}

function isWithoutClusterIP({ spec }: Service): boolean {
  return spec.clusterIP === '' || spec.clusterIP === 'None' || spec.type === 'ExternalName';
}

/** A name wins over a number. TCP wins if one name or number has several protocols. */
function portsOf({ spec }: Service, { port, protocol }: ServiceTarget): readonly ServicePortSpec[] {
  const wanted = spec.ports.filter(other => protocol === undefined || other.protocol === protocol);
  if (port === undefined) return wanted;
  const named = wanted.filter(({ name }) => name === port);
  const found = named.length > 0 ? named : wanted.filter(other => String(other.port) === port);
  const tcp = found.filter(other => other.protocol === 'TCP');
  return (tcp.length > 0 ? tcp : found).slice(0, 1);
}

const INSIDE_KINDS: readonly Frontend['kind'][] = ['ClusterIP'];
/** What callers outside of the cluster use, if the Service has it. */
const OUTSIDE_KINDS: readonly Frontend['kind'][] = ['LoadBalancerIP', 'ExternalIP', 'NodePort', 'ClusterIP'];

/**
 * The frontend that the caller would use, of the caller's family, if that is known. Otherwise of the Service's primary
 * family, or of its other family if this node serves only that one.
 */
function frontendOf(service: Service, port: ServicePortSpec, from: From, facts: Facts): MetFrontend | Finding {
  const key = objectKey(service.metadata);
  const served = familiesOf(service).filter(other => facts.families.includes(other));
  const caller = from.kind === 'address' ? familyOf(from.ip) : undefined;
  const kinds = from.kind === 'outside' ? OUTSIDE_KINDS : INSIDE_KINDS;
  const [wanted, others] = [served.filter(other => other === caller), served.filter(other => other !== caller)];
  for (const family of [...wanted, ...others]) {
    const { planner } = facts.state.family(family);
    const plan = planner
      .plansOf(key)
      .find(({ port: other }) => other.name === port.name && other.protocol === port.protocol);
    if (!plan) continue;
    const [frontend] = kinds.flatMap(wanted => plan.frontends.find(({ kind }) => kind === wanted) ?? []);
    if (!frontend) return lostFrontend(plan);
    const ip = frontend.ip ?? facts.state.nodeOptions.nodeIPs[family];
    return { family, plan, frontend, ip, port: frontend.port, protocol: port.protocol };
  }
  return noPlan(service, port, familiesOf(service), facts);
}

function familiesOf({ spec }: Service): readonly Family[] {
  const families = FAMILIES.filter(family => spec.ipFamilies.includes(family));
  if (families.length === 0) return spec.clusterIP.includes(':') ? ['IPv6'] : ['IPv4'];
  return spec.ipFamilies[0] === 'IPv6' ? families.toReversed() : families;
}

async function resolveAddress({ ip, port, protocol }: AddressTarget, facts: Facts): Promise<Resolved> {
  const family = familyOf(ip);
  if (!facts.families.includes(family)) {
    return { kind: 'none', finding: addressOfOtherFamily(ip, facts) };
  }
  const { planner } = facts.state.family(family);
  const protocols: readonly Protocol[] = protocol === undefined ? ['TCP', 'UDP', 'SCTP'] : [protocol];
  const nodeIPs = nodeIPsOf(facts);
  for (const wanted of protocols) {
    const found = matchFrontend(planner, { ip, port, protocol: wanted }, { nodeIPs });
    if (found) return { kind: 'frontend', met: { family, ...found, ip, port, protocol: wanted } };
  }
  const destination = { ip, port, protocol: protocol ?? 'TCP' };
  const use = await findAddressUse(ip, facts);
  return { kind: 'none', ...(await noFrontend(destination, use, facts)), destination, use };
}

/** The EndpointSlices of a Service in one family, by their names. */
export function slicesOf(service: string, family: Family, { state, objects }: Facts): readonly EndpointSlice[] {
  return state
    .family(family)
    .model.sliceKeysOf(service)
    .flatMap(key => objects.slice(key) ?? []);
}
