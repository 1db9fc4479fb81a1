import { internList } from '../../lib/intern.ts';
import { NONE } from '../../lib/none.ts';
import type { ServicePortSpec, ServiceSpec } from '../objects.ts';
import { checkInteger, checkProtocol, MAX_INT32, MAX_PORT } from './check-values.ts';
import { append, type Draft, finish } from './growing-list.ts';
import { lengthKey, type ProtobufReader, varintKey } from './reader.ts';
import { SharedMessages } from './shared-messages.ts';

const PORTS = lengthKey(1);
const SELECTOR = lengthKey(2);
const CLUSTER_IP = lengthKey(3);
const TYPE = lengthKey(4);
const EXTERNAL_IPS = lengthKey(5);
const SESSION_AFFINITY = lengthKey(7);
const LOAD_BALANCER_SOURCE_RANGES = lengthKey(9);
const EXTERNAL_TRAFFIC_POLICY = lengthKey(11);
const HEALTH_CHECK_NODE_PORT = varintKey(12);
const SESSION_AFFINITY_CONFIG = lengthKey(14);
const CLUSTER_IPS = lengthKey(18);
const IP_FAMILIES = lengthKey(19);
const INTERNAL_TRAFFIC_POLICY = lengthKey(22);

/** The spec of a Service without one. */
export const NO_SPEC: ServiceSpec = emptySpec();

const sharedPorts = new SharedMessages<ServicePortSpec>();

export function decodeServiceSpec(reader: ProtobufReader): ServiceSpec {
  const spec = emptySpec();
  while (reader.next()) decodeField(reader, spec);
  return {
    type: spec.type,
    clusterIP: spec.clusterIP,
    clusterIPs: shareText(finish(spec.clusterIPs), spec.clusterIP),
    ipFamilies: spec.ipFamilies.length === 0 ? NONE : internList(finish(spec.ipFamilies)),
    ports: finish(spec.ports),
    hasSelector: spec.hasSelector,
    externalIPs: finish(spec.externalIPs),
    loadBalancerSourceRanges: finish(spec.loadBalancerSourceRanges),
    sessionAffinity: spec.sessionAffinity,
    sessionAffinityTimeoutSeconds: spec.sessionAffinityTimeoutSeconds,
    externalTrafficPolicy: spec.externalTrafficPolicy,
    internalTrafficPolicy: spec.internalTrafficPolicy,
    healthCheckNodePort: checkInteger(reader, spec.healthCheckNodePort, 'healthCheckNodePort', 0, MAX_PORT),
  };
}

function emptySpec(): Draft<ServiceSpec> {
  return {
    type: '',
    clusterIP: '',
    clusterIPs: NONE,
    ipFamilies: NONE,
    ports: NONE,
    hasSelector: false,
    externalIPs: NONE,
    loadBalancerSourceRanges: NONE,
    sessionAffinity: '',
    sessionAffinityTimeoutSeconds: undefined,
    externalTrafficPolicy: '',
    internalTrafficPolicy: undefined,
    healthCheckNodePort: 0,
  };
}

function decodeField(reader: ProtobufReader, spec: Draft<ServiceSpec>): void {
  switch (reader.key) {
    case PORTS:
      spec.ports = sharedPorts.append(spec.ports, reader, decodePort, 'ports');
      return;
    case CLUSTER_IP:
      spec.clusterIP = reader.string();
      return;
    case CLUSTER_IPS:
      spec.clusterIPs = append(spec.clusterIPs, reader.string());
      return;
    case IP_FAMILIES:
      spec.ipFamilies = append(spec.ipFamilies, reader.name());
      return;
    case EXTERNAL_IPS:
      spec.externalIPs = append(spec.externalIPs, reader.string());
      return;
    case LOAD_BALANCER_SOURCE_RANGES:
      spec.loadBalancerSourceRanges = append(spec.loadBalancerSourceRanges, reader.string());
      return;
    default:
      decodeSetting(reader, spec);
  }
}

function decodeSetting(reader: ProtobufReader, spec: Draft<ServiceSpec>): void {
  switch (reader.key) {
    case TYPE:
      spec.type = reader.name();
      return;
    case SELECTOR:
      spec.hasSelector = true;
      reader.skip();
      return;
    case SESSION_AFFINITY:
      spec.sessionAffinity = reader.name();
      return;
    case SESSION_AFFINITY_CONFIG:
      spec.sessionAffinityTimeoutSeconds = reader.message(decodeAffinityConfig, 'sessionAffinityConfig');
      return;
    case EXTERNAL_TRAFFIC_POLICY:
      spec.externalTrafficPolicy = reader.name();
      return;
    case INTERNAL_TRAFFIC_POLICY:
      spec.internalTrafficPolicy = reader.name();
      return;
    case HEALTH_CHECK_NODE_PORT:
      spec.healthCheckNodePort = reader.int32();
      return;
    default:
      reader.skip();
  }
}

/** The list usually has only the text that is in memory already, so one of the two is dropped. */
function shareText(list: readonly string[], text: string): readonly string[] {
  return list.length === 1 && list[0] === text ? [text] : list;
}

const PORT_NAME = lengthKey(1);
const PORT_PROTOCOL = lengthKey(2);
const PORT_PORT = varintKey(3);
const PORT_TARGET_PORT = lengthKey(4);
const PORT_NODE_PORT = varintKey(5);

function decodePort(reader: ProtobufReader): ServicePortSpec {
  let name = '';
  let protocol = '';
  let port = 0;
  let nodePort = 0;
  let targetPort: number | string | undefined;
  while (reader.next()) {
    if (reader.key === PORT_NAME) name = reader.name();
    else if (reader.key === PORT_PROTOCOL) protocol = reader.name();
    else if (reader.key === PORT_PORT) port = reader.int32();
    else if (reader.key === PORT_TARGET_PORT) targetPort = reader.message(decodeIntOrString);
    else if (reader.key === PORT_NODE_PORT) nodePort = reader.int32();
    else reader.skip();
  }
  return {
    name,
    protocol: checkProtocol(reader, protocol === '' ? undefined : protocol),
    port: checkInteger(reader, port, 'port', 1, MAX_PORT),
    nodePort: checkInteger(reader, nodePort, 'nodePort', 0, MAX_PORT),
    targetPort,
  };
}

const IS_STRING = varintKey(1);
const INT_VALUE = varintKey(2);
const STRING_VALUE = lengthKey(3);

/** Kubernetes' IntOrString: says which of the two it is, and may have both. */
function decodeIntOrString(reader: ProtobufReader): number | string {
  let isString = false;
  let number = 0;
  let text = '';
  while (reader.next()) {
    if (reader.key === IS_STRING) isString = reader.int32() === 1;
    else if (reader.key === INT_VALUE) number = reader.int32();
    else if (reader.key === STRING_VALUE) text = reader.name();
    else reader.skip();
  }
  return isString ? text : number;
}

const CLIENT_IP = lengthKey(1);
const TIMEOUT_SECONDS = varintKey(1);

function decodeAffinityConfig(reader: ProtobufReader): number | undefined {
  let timeoutSeconds: number | undefined;
  while (reader.next()) {
    if (reader.key === CLIENT_IP) timeoutSeconds = reader.message(decodeClientIp, 'clientIP');
    else reader.skip();
  }
  return timeoutSeconds;
}

function decodeClientIp(reader: ProtobufReader): number | undefined {
  let timeoutSeconds: number | undefined;
  while (reader.next()) {
    if (reader.key !== TIMEOUT_SECONDS) reader.skip();
    else timeoutSeconds = checkInteger(reader, reader.int32(), 'timeoutSeconds', 0, MAX_INT32);
  }
  return timeoutSeconds;
}
