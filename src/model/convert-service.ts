import {
  ANNOTATION_BALANCE,
  ANNOTATION_SCHEDULER,
  objectKey,
  type Service,
  type ServicePortSpec,
  type ServiceSpec,
} from '../api/index.ts';
import type { ReportProblem } from '../lib/problem.ts';
import { type Cidr, cidrFamily, type Family, familyOf, type Ip, isZeroCidr, parseCidr, parseIp } from '../net/index.ts';
import { NONE } from './none.ts';
import type { Balance, ServicePort } from './service-port.ts';

/** Used where the API server left out the time-out of session affinity, which it never does. */
const DEFAULT_AFFINITY_SECONDS = 10800;
/** The kernel's limit is 15 bytes. */
const SCHEDULER = /^[a-z][a-z0-9_]{0,14}$/;

/** The ports of a Service in one family; none if the Service is not for a proxy or not of this family. */
export function convertService(service: Service, family: Family, report: ReportProblem): readonly ServicePort[] {
  if (shouldSkipService(service)) return NONE;
  const clusterIPText = clusterIPOfFamily(service.spec, family);
  if (clusterIPText === undefined) return NONE;
  const reader = new FieldReader(service, family, report);
  const clusterIP = reader.clusterIP(clusterIPText);
  if (clusterIP === undefined) return NONE;

  const { spec } = service;
  const externalPolicyLocal = isExternalPolicyLocal(spec);
  const shared = {
    externalIPs: reader.externalIPs(),
    loadBalancerVIPs: reader.loadBalancerVIPs(),
    loadBalancerSourceRanges: reader.sourceRanges(),
    affinitySeconds:
      spec.sessionAffinity === 'ClientIP' ? (spec.sessionAffinityTimeoutSeconds ?? DEFAULT_AFFINITY_SECONDS) : 0,
    internalPolicyLocal: spec.internalTrafficPolicy === 'Local',
    externalPolicyLocal,
    healthCheckNodePort: externalPolicyLocal ? reader.healthCheckNodePort() : 0,
    scheduler: reader.scheduler(),
    balance: reader.balance(),
  };
  return reader.ports().map(port => ({
    name: port.name,
    protocol: port.protocol,
    clusterIP,
    port: port.port,
    nodePort: port.nodePort,
    externalIPs: shared.externalIPs,
    loadBalancerVIPs: shared.loadBalancerVIPs,
    loadBalancerSourceRanges: shared.loadBalancerSourceRanges,
    affinitySeconds: shared.affinitySeconds,
    internalPolicyLocal: shared.internalPolicyLocal,
    externalPolicyLocal: shared.externalPolicyLocal,
    healthCheckNodePort: shared.healthCheckNodePort,
    scheduler: shared.scheduler,
    balance: shared.balance,
  }));
}

/** Headless Services and ExternalName, even with a cluster IP, are not for a proxy. */
export function shouldSkipService({ spec }: Service): boolean {
  return spec.clusterIP === '' || spec.clusterIP === 'None' || spec.type === 'ExternalName';
}

/** The cluster IP of a family as the Service has it, or undefined. */
export function clusterIPOfFamily(spec: ServiceSpec, family: Family): string | undefined {
  if (spec.ipFamilies.length === 0) {
    // An API server from before dual-stack. What does not parse counts as IPv4, and is reported there.
    const ip = parseIp(spec.clusterIP);
    return (ip ? familyOf(ip) : 'IPv4') === family ? spec.clusterIP : undefined;
  }
  for (const [i, ipFamily] of spec.ipFamilies.entries()) {
    if (ipFamily === family && spec.clusterIPs[i] !== undefined) return spec.clusterIPs[i];
  }
  return undefined;
}

function isExternalPolicyLocal(spec: ServiceSpec): boolean {
  if (spec.externalTrafficPolicy !== 'Local') return false;
  if (spec.type === 'LoadBalancer' || spec.type === 'NodePort') return true;
  return spec.type === 'ClusterIP' && spec.externalIPs.length > 0;
}

function isSamePlace(a: ServicePortSpec, b: ServicePortSpec): boolean {
  if (a.protocol !== b.protocol) return false;
  return a.name === b.name || a.port === b.port || (a.nodePort !== 0 && a.nodePort === b.nodePort);
}

/** Reads address fields, keeps those of the family, and reports what cannot be read. */
class FieldReader {
  readonly #service: Service;
  readonly #family: Family;
  readonly #report: ReportProblem;

  constructor(service: Service, family: Family, report: ReportProblem) {
    this.#service = service;
    this.#family = family;
    this.#report = report;
  }

  clusterIP(text: string): Ip | undefined {
    const ip = parseIp(text);
    if (ip === undefined) this.#problem('spec.clusterIP', `${JSON.stringify(text)} is not an IP address`);
    return ip;
  }

  /** The API server sees to it that the ports of a Service can be told apart; manifests may not. */
  ports(): readonly ServicePortSpec[] {
    const { ports } = this.#service.spec;
    if (ports.length < 2) return ports;
    return ports.filter((port, i) => {
      const later = ports.slice(i + 1).find(other => isSamePlace(port, other));
      if (!later) return true;
      this.#problem(`spec.ports[${i}]`, 'has the name, number or node port of a later port, which counts; change one');
      return false;
    });
  }

  externalIPs(): readonly Ip[] {
    const { externalIPs } = this.#service.spec;
    if (externalIPs.length === 0) return NONE;
    const ips: Ip[] = [];
    externalIPs.forEach((text, i) => {
      const ip = parseIp(text);
      if (ip !== undefined && familyOf(ip) === this.#family) ips.push(ip);
      if (ip === undefined && text.trim() !== '') this.#skipped(`spec.externalIPs[${i}]`, text, 'an IP address');
    });
    return ips;
  }

  /** `spec.type` is not consulted, nor is `spec.loadBalancerIP`: what the status says is what counts. */
  loadBalancerVIPs(): readonly Ip[] {
    const { ingress } = this.#service.status.loadBalancer;
    if (ingress.length === 0) return NONE;
    return ingress
      .filter(({ ip, ipMode }) => ip !== '' && (ipMode === undefined || ipMode === 'VIP'))
      .map(({ ip }) => parseIp(ip))
      .filter((ip): ip is Ip => ip !== undefined && familyOf(ip) === this.#family);
  }

  /** A range of all addresses lifts the restriction for its family. */
  sourceRanges(): readonly Cidr[] {
    const texts = this.#service.spec.loadBalancerSourceRanges;
    if (texts.length === 0) return NONE;
    const ranges: Cidr[] = [];
    texts.forEach((raw, i) => {
      const text = raw.trim();
      const cidr = parseCidr(text);
      if (cidr && cidrFamily(cidr) === this.#family) ranges.push(cidr);
      if (!cidr && text !== '') this.#skipped(`spec.loadBalancerSourceRanges[${i}]`, text, 'a CIDR');
    });
    return ranges.some(isZeroCidr) ? NONE : ranges;
  }

  healthCheckNodePort(): number {
    const { spec } = this.#service;
    if (spec.type !== 'LoadBalancer') return 0;
    if (spec.healthCheckNodePort === 0) {
      this.#problem('spec.healthCheckNodePort', 'is missing, so load balancers cannot check this node; set it');
    }
    return spec.healthCheckNodePort;
  }

  scheduler(): string {
    const scheduler = this.#service.metadata.annotations[ANNOTATION_SCHEDULER] ?? '';
    if (scheduler === '' || SCHEDULER.test(scheduler)) return scheduler;
    this.#skipped(`metadata.annotations[${ANNOTATION_SCHEDULER}]`, scheduler, 'the name of an IPVS scheduler');
    return '';
  }

  balance(): Balance {
    const balance = this.#service.metadata.annotations[ANNOTATION_BALANCE] ?? 'round-robin';
    if (balance === 'round-robin' || balance === 'least-connections') return balance;
    this.#skipped(`metadata.annotations[${ANNOTATION_BALANCE}]`, balance, 'round-robin or least-connections');
    return 'round-robin';
  }

  #skipped(field: string, text: string, wanted: string): void {
    this.#problem(field, `${JSON.stringify(text)} is not ${wanted} and is left out; correct or remove it`);
  }

  #problem(field: string, message: string): void {
    this.#report({ object: `Service ${objectKey(this.#service.metadata)}`, field, message });
  }
}
