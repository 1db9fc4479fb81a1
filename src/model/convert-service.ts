import { ANNOTATION_SCHEDULER, objectKey, type Service, type ServicePortSpec, type ServiceSpec } from '../api/index.ts';
import { NONE } from '../lib/none.ts';
import type { ReportProblem } from '../lib/problem.ts';
import { type Cidr, cidrFamily, type Family, familyOf, type Ip, isZeroCidr, parseCidr, parseIp } from '../net/index.ts';
import { readServiceOptions, type ServiceOptions } from './service-options.ts';
import type { ServicePort } from './service-port.ts';

/** An API server always sends the timeout of session affinity. This is the default if one does not. */
const DEFAULT_AFFINITY_SECONDS = 10800;
/** The kernel's limit is 15 bytes. */
const SCHEDULER = /^[a-z][a-z0-9_]{0,14}$/;

/** The ports of a Service in one family. Empty if a proxy does not handle the Service, or if it lacks the family. */
export function convertService(service: Service, family: Family, report: ReportProblem): readonly ServicePort[] {
  if (shouldSkipService(service)) return NONE;
  const clusterIPText = clusterIPOfFamily(service.spec, family);
  if (clusterIPText === undefined) return NONE;
  const reader = new ServiceReader(service, family, report);
  const clusterIP = reader.readClusterIP(clusterIPText);
  if (clusterIP === undefined) return NONE;

  const { spec } = service;
  const externalPolicyLocal = isExternalPolicyLocal(spec);
  const shared = {
    externalIPs: reader.readExternalIPs(),
    loadBalancerVIPs: reader.readLoadBalancerVIPs(),
    loadBalancerSourceRanges: reader.readSourceRanges(),
    affinitySeconds:
      spec.sessionAffinity === 'ClientIP' ? (spec.sessionAffinityTimeoutSeconds ?? DEFAULT_AFFINITY_SECONDS) : 0,
    internalPolicyLocal: spec.internalTrafficPolicy === 'Local',
    externalPolicyLocal,
    healthCheckNodePort: externalPolicyLocal ? reader.readHealthCheckNodePort() : 0,
    scheduler: reader.readScheduler(),
    options: reader.readOptions(),
  };
  return reader.readPorts().map(port => ({
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
    options: shared.options,
  }));
}

/** A proxy does not handle headless Services, nor ExternalName Services, even if they have a cluster IP. */
export function shouldSkipService({ spec }: Service): boolean {
  return spec.clusterIP === '' || spec.clusterIP === 'None' || spec.type === 'ExternalName';
}

/** The cluster IP of a family as the Service has it. Undefined if there is none. */
export function clusterIPOfFamily(spec: ServiceSpec, family: Family): string | undefined {
  if (spec.ipFamilies.length === 0) {
    // An API server from before dual-stack. A text that is not an address counts as IPv4, whose model reports it.
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

function isSamePort(a: ServicePortSpec, b: ServicePortSpec): boolean {
  if (a.protocol !== b.protocol) return false;
  return a.name === b.name || a.port === b.port || (a.nodePort !== 0 && a.nodePort === b.nodePort);
}

/** Reads the fields of a Service, keeps the addresses of the family, and reports values that cannot be used. */
class ServiceReader {
  readonly #service: Service;
  readonly #family: Family;
  readonly #report: ReportProblem;

  constructor(service: Service, family: Family, report: ReportProblem) {
    this.#service = service;
    this.#family = family;
    this.#report = report;
  }

  readClusterIP(text: string): Ip | undefined {
    const ip = parseIp(text);
    if (ip !== undefined && familyOf(ip) === this.#family) return ip;
    const wanted = ip === undefined ? 'an IP address' : `an ${this.#family} address, as spec.ipFamilies says`;
    this.#reportField('spec.clusterIP', `${JSON.stringify(text)} is not ${wanted}`);
    return undefined;
  }

  /** An API server refuses ports that collide. A manifest may have them. */
  readPorts(): readonly ServicePortSpec[] {
    const { ports } = this.#service.spec;
    if (ports.length < 2) return ports;
    return ports.filter((port, i) => {
      const later = ports.slice(i + 1).find(other => isSamePort(port, other));
      if (!later) return true;
      this.#reportField(
        `spec.ports[${i}]`,
        'has the name, number or node port of a later port, which is used; change one',
      );
      return false;
    });
  }

  readExternalIPs(): readonly Ip[] {
    const { externalIPs } = this.#service.spec;
    if (externalIPs.length === 0) return NONE;
    const ips: Ip[] = [];
    externalIPs.forEach((text, i) => {
      const ip = parseIp(text);
      if (ip !== undefined && familyOf(ip) === this.#family) ips.push(ip);
      if (ip === undefined && text.trim() !== '') this.#reportIgnored(`spec.externalIPs[${i}]`, text, 'an IP address');
    });
    return ips;
  }

  /** Only the status counts. `spec.type` and `spec.loadBalancerIP` have no effect. */
  readLoadBalancerVIPs(): readonly Ip[] {
    const { ingress } = this.#service.status.loadBalancer;
    if (ingress.length === 0) return NONE;
    return ingress
      .filter(({ ip, ipMode }) => ip !== '' && (ipMode === undefined || ipMode === 'VIP'))
      .map(({ ip }) => parseIp(ip))
      .filter((ip): ip is Ip => ip !== undefined && familyOf(ip) === this.#family);
  }

  /** A range of all addresses removes the restriction for its family. */
  readSourceRanges(): readonly Cidr[] {
    const texts = this.#service.spec.loadBalancerSourceRanges;
    if (texts.length === 0) return NONE;
    const ranges: Cidr[] = [];
    texts.forEach((raw, i) => {
      const text = raw.trim();
      const cidr = parseCidr(text);
      if (cidr && cidrFamily(cidr) === this.#family) ranges.push(cidr);
      if (!cidr && text !== '') this.#reportIgnored(`spec.loadBalancerSourceRanges[${i}]`, text, 'a CIDR');
    });
    return ranges.some(isZeroCidr) ? NONE : ranges;
  }

  readHealthCheckNodePort(): number {
    const { spec } = this.#service;
    if (spec.type !== 'LoadBalancer') return 0;
    if (spec.healthCheckNodePort === 0) {
      this.#reportField('spec.healthCheckNodePort', 'is missing, so load balancers cannot check this node; set it');
    }
    return spec.healthCheckNodePort;
  }

  readScheduler(): string {
    const scheduler = this.#service.metadata.annotations[ANNOTATION_SCHEDULER] ?? '';
    if (scheduler === '' || SCHEDULER.test(scheduler)) return scheduler;
    this.#reportIgnored(`metadata.annotations[${ANNOTATION_SCHEDULER}]`, scheduler, 'the name of an IPVS scheduler');
    return '';
  }

  readOptions(): ServiceOptions {
    return readServiceOptions(this.#service.metadata, (annotation, text, wanted) =>
      this.#reportIgnored(`metadata.annotations[${annotation}]`, text, wanted),
    );
  }

  #reportIgnored(field: string, text: string, wanted: string): void {
    this.#reportField(field, `${JSON.stringify(text)} is not ${wanted} and is left out; correct or remove it`);
  }

  #reportField(field: string, message: string): void {
    this.#report({ kind: 'Service', object: `Service ${objectKey(this.#service.metadata)}`, field, message });
  }
}
