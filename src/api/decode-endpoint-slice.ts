import { intern } from '../lib/intern.ts';
import { isRecord } from '../lib/is-record.ts';
import { NONE } from '../lib/none.ts';
import { decodeMetadata } from './decode-metadata.ts';
import { decodeProtocol } from './decode-protocol.ts';
import type { FieldReader, Fields } from './field-reader.ts';
import type { EndpointPort, EndpointSlice, EndpointSpec, TargetRef } from './objects.ts';

const MAX_PORT = 65535;

export function decodeEndpointSlice(reader: FieldReader, slice: Fields): EndpointSlice {
  return {
    kind: 'EndpointSlice',
    metadata: reader.map(slice.metadata, 'metadata', decodeMetadata),
    addressType: reader.name(slice.addressType, 'addressType') ?? '',
    ports: reader.maps(slice.ports, 'ports', decodePort),
    endpoints: reader.maps(slice.endpoints, 'endpoints', decodeEndpoint),
  };
}

function decodePort(reader: FieldReader, port: Fields): EndpointPort {
  return {
    name: reader.name(port.name, 'name'),
    protocol: decodeProtocol(reader, port),
    port: reader.integer(port.port, 'port', 0, MAX_PORT),
  };
}

interface Conditions {
  readonly ready?: boolean | undefined;
  readonly serving?: boolean | undefined;
  readonly terminating?: boolean | undefined;
}

interface Hints {
  readonly forZones: readonly string[];
  readonly forNodes: readonly string[];
}

function decodeEndpoint(reader: FieldReader, endpoint: Fields): EndpointSpec {
  const { ready, serving, terminating } = reader.map(endpoint.conditions, 'conditions', decodeConditions);
  const { forZones, forNodes } = decodeHints(reader, endpoint);
  return {
    addresses: reader.strings(endpoint.addresses, 'addresses'),
    nodeName: reader.name(endpoint.nodeName, 'nodeName'),
    zone: nameOf(endpoint.zone),
    targetRef: targetRefOf(endpoint.targetRef),
    ready,
    serving,
    terminating,
    zoneHints: forZones,
    nodeHints: forNodes,
  };
}

// A proxy needs these fields only to explain, so a wrong value there does not make a slice unusable.

function targetRefOf(found: unknown): TargetRef | undefined {
  if (!isRecord(found)) return undefined;
  const { kind, namespace, name } = found;
  const isNamed = typeof name === 'string';
  return { kind: nameOf(kind) ?? '', namespace: nameOf(namespace) ?? '', name: isNamed ? name : '' };
}

function nameOf(found: unknown): string | undefined {
  return typeof found === 'string' ? intern(found) : undefined;
}

function decodeConditions(reader: FieldReader, conditions: Fields): Conditions {
  return {
    ready: reader.boolean(conditions.ready, 'ready'),
    serving: reader.boolean(conditions.serving, 'serving'),
    terminating: reader.boolean(conditions.terminating, 'terminating'),
  };
}

const NO_HINTS: Hints = { forZones: NONE, forNodes: NONE };

function decodeHints(reader: FieldReader, endpoint: Fields): Hints {
  if (endpoint.hints === undefined || endpoint.hints === null) return NO_HINTS;
  return reader.map(endpoint.hints, 'hints', (_, hints) => ({
    forZones: reader.maps(hints.forZones, 'forZones', decodeHintName),
    forNodes: reader.maps(hints.forNodes, 'forNodes', decodeHintName),
  }));
}

function decodeHintName(reader: FieldReader, hint: Fields): string {
  return reader.name(hint.name, 'name') ?? '';
}
