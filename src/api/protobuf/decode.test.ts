import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  encodeMeta,
  encodeNode,
  encodeService,
  encodeSlice,
  nodes,
  serviceCidrs,
  services,
  slices,
} from '../../../test/support/protobuf-objects.ts';
import { bytes, texts } from '../../../test/support/protobuf-writer.ts';
import { decodeObject, decodeObjects } from '../decode.ts';
import type { EndpointSlice, KubeObject, Service } from '../objects.ts';
import { decodeProtobufObject } from './decode.ts';
import { ListBody } from './list-body.ts';

const RECORDED = 'src/api/protobuf/recorded';
const KINDS: readonly (readonly [string, KubeObject['kind']])[] = [
  ['services', 'Service'],
  ['endpointslices', 'EndpointSlice'],
  ['nodes', 'Node'],
  ['servicecidrs', 'ServiceCIDR'],
];

function recordedItems(name: string): Buffer[] {
  const items: Buffer[] = [];
  const list = new ListBody();
  list.push(readFileSync(`${RECORDED}/${name}.pb`), item => items.push(item));
  assert.ok(list.complete);
  return items;
}

for (const [name, kind] of KINDS) {
  test(`WATCH-2 recorded ${name} of an API server decode to the same objects from protobuf and from JSON`, () => {
    const json: unknown = JSON.parse(readFileSync(`${RECORDED}/${name}.json`, 'utf8'));
    const expected = decodeObjects(json).map(({ result }) => result);
    assert.deepEqual(
      recordedItems(name).map(item => decodeProtobufObject(item, kind)),
      expected,
    );
    assert.ok(expected.length > 1 && expected.every(result => result.kind === 'object'));
  });

  test(`WATCH-2 recorded ${name} that are cut short or changed cause no exception`, () => {
    const items = recordedItems(name);
    const anItem = fc.constantFrom(...items);
    fc.assert(
      fc.property(anItem, fc.nat(), fc.nat(), fc.integer({ min: 0, max: 255 }), (item, at, end, byte) => {
        const changed = Buffer.from(item.subarray(0, 1 + (end % item.length)));
        changed[at % changed.length] = byte;
        assert.match(decodeProtobufObject(changed, kind).kind, /^(object|problems)$/);
      }),
      { numRuns: 1000 },
    );
  });
}

test('WATCH-2 any bytes decode to an object or to a problem', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom(...KINDS), (garbage, [, kind]) => {
      assert.match(decodeProtobufObject(garbage, kind).kind, /^(object|problems)$/);
    }),
  );
});

test('WATCH-2 the problem of bytes that end early has the name of the object', () => {
  const whole = Buffer.from(encodeService({ metadata: { name: 'web', namespace: 'shop' }, spec: { ports: [] } }));
  assert.deepEqual(decodeProtobufObject(whole.subarray(0, -3), 'Service'), {
    kind: 'problems',
    problems: [{ field: undefined, path: [], message: 'cannot be read: its bytes are no Service' }],
    subject: { kind: 'Service', namespace: 'shop', name: 'web' },
  });
});

test('WATCH-3 parts that Services and slices have in common are in memory once', () => {
  const service = (name: string) =>
    Buffer.from(
      encodeService({ metadata: { name }, spec: { ports: [{ port: 80, targetPort: 80 }], ipFamilies: ['IPv4'] } }),
    );
  const a = object<Service>(decodeProtobufObject(service('a'), 'Service'));
  const b = object<Service>(decodeProtobufObject(service('b'), 'Service'));
  assert.equal(a.spec.ports, b.spec.ports);
  assert.equal(a.spec.ipFamilies, b.spec.ipFamilies);
  assert.equal(a.metadata.labels, b.metadata.labels);
  const slice = (name: string) => Buffer.from(encodeSlice({ metadata: { name }, ports: [{ name: 'http', port: 80 }] }));
  const c = object<EndpointSlice>(decodeProtobufObject(slice('c'), 'EndpointSlice'));
  const d = object<EndpointSlice>(decodeProtobufObject(slice('d'), 'EndpointSlice'));
  assert.equal(c.ports, d.ports);
  const two = [
    { name: 'http', port: 80 },
    { name: 'dns', port: 53 },
  ];
  const e = object<EndpointSlice>(
    decodeProtobufObject(Buffer.from(encodeSlice({ metadata: { name: 'e' }, ports: two })), 'EndpointSlice'),
  );
  assert.equal(e.ports.length, 2);
  assert.equal(c.ports.length, 1);
});

test('WATCH-2 generated Services decode to the same objects and problems from protobuf and from JSON', () => {
  fc.assert(
    fc.property(services, service => {
      const json = { apiVersion: 'v1', kind: 'Service', ...service };
      assert.deepEqual(decodeProtobufObject(Buffer.from(encodeService(service)), 'Service'), decodeObject(json));
    }),
    { numRuns: 500 },
  );
});

test('WATCH-2 generated EndpointSlices decode to the same objects and problems from protobuf and from JSON', () => {
  fc.assert(
    fc.property(slices, slice => {
      const json = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', ...slice };
      assert.deepEqual(decodeProtobufObject(Buffer.from(encodeSlice(slice)), 'EndpointSlice'), decodeObject(json));
    }),
    { numRuns: 500 },
  );
});

test('WATCH-2 generated Nodes and ServiceCIDRs decode to the same objects from protobuf and from JSON', () => {
  fc.assert(
    fc.property(nodes, node => {
      const json = { apiVersion: 'v1', kind: 'Node', ...node };
      assert.deepEqual(decodeProtobufObject(Buffer.from(encodeNode(node)), 'Node'), decodeObject(json));
    }),
  );
  fc.assert(
    fc.property(serviceCidrs, serviceCidr => {
      const json = { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', ...serviceCidr };
      const encoded = [...bytes(1, encodeMeta(serviceCidr.metadata)), ...bytes(2, texts(1, serviceCidr.spec.cidrs))];
      assert.deepEqual(decodeProtobufObject(Buffer.from(encoded), 'ServiceCIDR'), decodeObject(json));
    }),
  );
});

function object<T extends KubeObject>(result: ReturnType<typeof decodeProtobufObject>): T {
  assert.equal(result.kind, 'object');
  return result.kind === 'object' ? (result.object as T) : assert.fail();
}
