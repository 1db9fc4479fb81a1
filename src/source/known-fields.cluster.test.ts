import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ControlPlane } from '../../test/control-plane/control-plane.ts';
import { isRecord } from '../lib/is-record.ts';
import { KNOWN_FIELDS, type KnownFields, LEAF } from './known-fields.ts';

const DEFINITIONS = {
  Service: 'io.k8s.api.core.v1.Service',
  EndpointSlice: 'io.k8s.api.discovery.v1.EndpointSlice',
  Node: 'io.k8s.api.core.v1.Node',
  ServiceCIDR: 'io.k8s.api.networking.v1.ServiceCIDR',
} as const;
/** The fields that are new in v1.37. The API server of this test is older. */
const NEWER = ['Node.spec.podPreemptionPolicy.disableResizePreemption', 'Node.status.nodeInfo.runningInUserNamespace'];
const REF = '#/definitions/';

let controlPlane: ControlPlane;
before(async () => {
  controlPlane = await ControlPlane.start();
});
after(() => controlPlane.close());

test('FILES-20 the known fields are those of a real API server', async () => {
  const { json } = await controlPlane.request('GET', '/openapi/v2');
  const definitions = record(record(json).definitions);
  const real = Object.entries(DEFINITIONS).flatMap(([kind, name]) => pathsOf(schemaFields(name, definitions), kind));
  const known = Object.entries(KNOWN_FIELDS).flatMap(([kind, fields]) => pathsOf(fields, kind));
  assert.ok(real.length > 150, `${real.length} fields`);
  assert.deepEqual(known.filter(path => !NEWER.includes(path)).sort(), real.sort());
  assert.deepEqual(known.filter(path => NEWER.includes(path)).sort(), NEWER);
});

function schemaFields(name: string, definitions: Readonly<Record<string, unknown>>): KnownFields | typeof LEAF {
  const { properties } = record(definitions[name]);
  if (!isRecord(properties)) return LEAF;
  const field = (property: unknown): KnownFields | typeof LEAF => {
    const { $ref, items, additionalProperties } = record(property);
    if (typeof $ref === 'string') return schemaFields($ref.slice(REF.length), definitions);
    return isRecord(items) && !isRecord(additionalProperties) ? field(items) : LEAF;
  };
  return Object.fromEntries(Object.entries(properties).map(([key, property]) => [key, field(property)]));
}

function pathsOf(fields: KnownFields | typeof LEAF, parent: string): readonly string[] {
  if (fields === LEAF) return [parent];
  return Object.entries(fields).flatMap(([name, below]) => pathsOf(below, `${parent}.${name}`));
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  assert.ok(isRecord(value));
  return value;
}
