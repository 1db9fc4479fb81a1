import { intern } from '../lib/intern.ts';
import { isRecord } from '../lib/is-record.ts';
import { NONE } from '../lib/none.ts';
import { decodeMetadataWithUid } from './decode-metadata.ts';
import { decodeProtocol } from './decode-protocol.ts';
import type { FieldReader, Fields } from './field-reader.ts';
import type { LoadBalancerIngress, Service, ServicePortSpec, ServiceSpec } from './objects.ts';

const MAX_PORT = 65535;
const MAX_INT32 = 0x7fffffff;

export function decodeService(reader: FieldReader, service: Fields): Service {
  return {
    kind: 'Service',
    metadata: reader.map(service.metadata, 'metadata', decodeMetadataWithUid),
    spec: reader.map(service.spec, 'spec', decodeSpec),
    status: reader.map(service.status, 'status', decodeStatus),
  };
}

function decodeSpec(reader: FieldReader, spec: Fields): ServiceSpec {
  return {
    type: reader.name(spec.type, 'type') ?? '',
    clusterIP: reader.string(spec.clusterIP, 'clusterIP') ?? '',
    clusterIPs: reader.strings(spec.clusterIPs, 'clusterIPs'),
    ipFamilies: reader.strings(spec.ipFamilies, 'ipFamilies'),
    ports: reader.maps(spec.ports, 'ports', decodePort),
    hasSelector: hasEntries(spec.selector),
    externalIPs: reader.strings(spec.externalIPs, 'externalIPs'),
    loadBalancerSourceRanges: reader.strings(spec.loadBalancerSourceRanges, 'loadBalancerSourceRanges'),
    sessionAffinity: reader.name(spec.sessionAffinity, 'sessionAffinity') ?? '',
    sessionAffinityTimeoutSeconds: reader.map(
      spec.sessionAffinityConfig,
      'sessionAffinityConfig',
      decodeAffinityTimeout,
    ),
    externalTrafficPolicy: reader.name(spec.externalTrafficPolicy, 'externalTrafficPolicy') ?? '',
    internalTrafficPolicy: reader.name(spec.internalTrafficPolicy, 'internalTrafficPolicy'),
    healthCheckNodePort: reader.integer(spec.healthCheckNodePort, 'healthCheckNodePort', 0, MAX_PORT) ?? 0,
  };
}

function decodePort(reader: FieldReader, port: Fields): ServicePortSpec {
  if (port.port === undefined || port.port === null) reader.addProblem('port', 'is missing: give the port a number');
  return {
    name: reader.name(port.name, 'name') ?? '',
    protocol: decodeProtocol(reader, port),
    port: reader.integer(port.port, 'port', 1, MAX_PORT) ?? 0,
    nodePort: reader.integer(port.nodePort, 'nodePort', 0, MAX_PORT) ?? 0,
    targetPort: targetPortOf(port.targetPort),
  };
}

// A proxy needs these fields only to explain, so a wrong value there does not make a Service unusable.

function targetPortOf(found: unknown): number | string | undefined {
  if (typeof found === 'string') return intern(found);
  return typeof found === 'number' ? found : undefined;
}

function hasEntries(found: unknown): boolean {
  if (!isRecord(found)) return false;
  for (const _key in found) return true;
  return false;
}

function decodeAffinityTimeout(reader: FieldReader, config: Fields): number | undefined {
  return reader.map(config.clientIP, 'clientIP', (_, clientIP) =>
    reader.integer(clientIP.timeoutSeconds, 'timeoutSeconds', 0, MAX_INT32),
  );
}

const NO_STATUS: Service['status'] = { loadBalancer: { ingress: NONE } };

function decodeStatus(reader: FieldReader, status: Fields): Service['status'] {
  const ingress = reader.map(status.loadBalancer, 'loadBalancer', decodeLoadBalancer);
  return ingress.length === 0 ? NO_STATUS : { loadBalancer: { ingress } };
}

function decodeLoadBalancer(reader: FieldReader, loadBalancer: Fields): readonly LoadBalancerIngress[] {
  return reader.maps(loadBalancer.ingress, 'ingress', (_, ingress) => ({
    ip: reader.string(ingress.ip, 'ip') ?? '',
    ipMode: reader.name(ingress.ipMode, 'ipMode'),
  }));
}
