import { internList } from '../../lib/intern.ts';
import { NONE } from '../../lib/none.ts';
import type { EndpointPort, EndpointSlice, EndpointSpec, TargetRef } from '../objects.ts';
import { checkInteger, checkProtocol, MAX_PORT } from './check-values.ts';
import { decodeObjectMeta, emptyMetadata, requireName } from './decode-metadata.ts';
import { append, finish, type GrowingList } from './growing-list.ts';
import { lengthKey, type ProtobufReader, varintKey } from './reader.ts';
import { SharedMessages } from './shared-messages.ts';

const METADATA = lengthKey(1);
const ENDPOINTS = lengthKey(2);
const PORTS = lengthKey(3);
const ADDRESS_TYPE = lengthKey(4);

const sharedPorts = new SharedMessages<EndpointPort>();

export function decodeEndpointSlice(reader: ProtobufReader): EndpointSlice {
  let found = emptyMetadata();
  let addressType = '';
  let ports: GrowingList<EndpointPort> = NONE;
  let endpoints: GrowingList<EndpointSpec> = NONE;
  while (reader.next()) {
    if (reader.key === METADATA) found = reader.message(decodeObjectMeta, 'metadata');
    else if (reader.key === ENDPOINTS) {
      endpoints = append(endpoints, reader.message(decodeEndpoint, 'endpoints', endpoints.length));
    } else if (reader.key === PORTS) ports = sharedPorts.append(ports, reader, decodePort, 'ports');
    else if (reader.key === ADDRESS_TYPE) addressType = reader.name();
    else reader.skip();
  }
  requireName(reader, found);
  const { name, namespace, labels, annotations, resourceVersion } = found;
  const metadata = { name, namespace, labels, annotations, resourceVersion };
  return { kind: 'EndpointSlice', metadata, addressType, ports: finish(ports), endpoints: finish(endpoints) };
}

const PORT_NAME = lengthKey(1);
const PORT_PROTOCOL = lengthKey(2);
const PORT_PORT = varintKey(3);

function decodePort(reader: ProtobufReader): EndpointPort {
  let name: string | undefined;
  let protocol: string | undefined;
  let port: number | undefined;
  while (reader.next()) {
    if (reader.key === PORT_NAME) name = reader.name();
    else if (reader.key === PORT_PROTOCOL) protocol = reader.name();
    else if (reader.key === PORT_PORT) port = reader.int32();
    else reader.skip();
  }
  return {
    name,
    protocol: checkProtocol(reader, protocol),
    port: port === undefined ? undefined : checkInteger(reader, port, 'port', 0, MAX_PORT),
  };
}

const ADDRESSES = lengthKey(1);
const CONDITIONS = lengthKey(2);
const TARGET_REF = lengthKey(4);
const NODE_NAME = lengthKey(6);
const ZONE = lengthKey(7);
const HINTS = lengthKey(8);

function decodeEndpoint(reader: ProtobufReader): EndpointSpec {
  let addresses: GrowingList<string> = NONE;
  let nodeName: string | undefined;
  let zone: string | undefined;
  let targetRef: TargetRef | undefined;
  let conditions = NO_CONDITIONS;
  let hints = NO_HINTS;
  while (reader.next()) {
    if (reader.key === ADDRESSES) addresses = append(addresses, reader.string());
    else if (reader.key === CONDITIONS) conditions = reader.message(decodeConditions);
    else if (reader.key === NODE_NAME) nodeName = reader.name();
    else if (reader.key === ZONE) zone = reader.name();
    else if (reader.key === TARGET_REF) targetRef = reader.message(decodeTargetRef);
    else if (reader.key === HINTS) hints = reader.message(decodeHints);
    else reader.skip();
  }
  const { ready, serving, terminating } = conditions;
  const { zoneHints, nodeHints } = hints;
  return { addresses: finish(addresses), nodeName, zone, targetRef, ready, serving, terminating, zoneHints, nodeHints };
}

const REF_KIND = lengthKey(1);
const REF_NAMESPACE = lengthKey(2);
const REF_NAME = lengthKey(3);

function decodeTargetRef(reader: ProtobufReader): TargetRef {
  let kind = '';
  let namespace = '';
  let name = '';
  while (reader.next()) {
    if (reader.key === REF_KIND) kind = reader.name();
    else if (reader.key === REF_NAMESPACE) namespace = reader.name();
    else if (reader.key === REF_NAME) name = reader.string();
    else reader.skip();
  }
  return { kind, namespace, name };
}

type Conditions = Pick<EndpointSpec, 'ready' | 'serving' | 'terminating'>;

const NO_CONDITIONS: Conditions = {};
const READY = varintKey(1);
const SERVING = varintKey(2);
const TERMINATING = varintKey(3);

function decodeConditions(reader: ProtobufReader): Conditions {
  let ready: boolean | undefined;
  let serving: boolean | undefined;
  let terminating: boolean | undefined;
  while (reader.next()) {
    if (reader.key === READY) ready = reader.boolean();
    else if (reader.key === SERVING) serving = reader.boolean();
    else if (reader.key === TERMINATING) terminating = reader.boolean();
    else reader.skip();
  }
  return { ready, serving, terminating };
}

type Hints = Pick<EndpointSpec, 'zoneHints' | 'nodeHints'>;

const NO_HINTS: Hints = { zoneHints: NONE, nodeHints: NONE };
const FOR_ZONES = lengthKey(1);
const FOR_NODES = lengthKey(2);

function decodeHints(reader: ProtobufReader): Hints {
  let zoneHints: GrowingList<string> = NONE;
  let nodeHints: GrowingList<string> = NONE;
  while (reader.next()) {
    if (reader.key === FOR_ZONES) zoneHints = append(zoneHints, reader.message(decodeHintName));
    else if (reader.key === FOR_NODES) nodeHints = append(nodeHints, reader.message(decodeHintName));
    else reader.skip();
  }
  return { zoneHints: sharedHints(zoneHints), nodeHints: sharedHints(nodeHints) };
}

function sharedHints(hints: GrowingList<string>): readonly string[] {
  return hints.length === 0 ? NONE : internList(finish(hints));
}

const HINT_NAME = lengthKey(1);

function decodeHintName(reader: ProtobufReader): string {
  let name = '';
  while (reader.next()) {
    if (reader.key === HINT_NAME) name = reader.name();
    else reader.skip();
  }
  return name;
}
