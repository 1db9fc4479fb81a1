import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeObject } from '../api/index.ts';
import {
  ENDPOINT_SLICE_LABEL_SELECTOR,
  isSelected,
  nodeFieldSelector,
  SERVICE_FIELD_SELECTOR,
  SERVICE_LABEL_SELECTOR,
} from './selectors.ts';

const proxyName = 'service.kubernetes.io/service-proxy-name';
const headless = 'service.kubernetes.io/headless';
const rows: [string, string, object, object, boolean][] = [
  ['a Service', 'v1', { kind: 'Service' }, {}, true],
  ['a Service for another proxy', 'v1', { kind: 'Service' }, { [proxyName]: 'other' }, false],
  ['a Service with an empty proxy name', 'v1', { kind: 'Service' }, { [proxyName]: '' }, false],
  ['a headless Service', 'v1', { kind: 'Service', spec: { clusterIP: 'None' } }, {}, false],
  ['a Service with the label of headless slices', 'v1', { kind: 'Service' }, { [headless]: '' }, true],
  ['a slice', 'discovery.k8s.io/v1', { kind: 'EndpointSlice' }, {}, true],
  ['a slice of a headless Service', 'discovery.k8s.io/v1', { kind: 'EndpointSlice' }, { [headless]: '' }, false],
  ['a slice with a proxy name', 'discovery.k8s.io/v1', { kind: 'EndpointSlice' }, { [proxyName]: 'other' }, true],
  ['the own Node', 'v1', { kind: 'Node' }, {}, true],
  ['a ServiceCIDR', 'networking.k8s.io/v1', { kind: 'ServiceCIDR' }, {}, true],
];
for (const [name, apiVersion, fields, labels, want] of rows) {
  test(`FILES-2 ${name} is ${want ? 'selected' : 'not selected'}`, () => {
    const result = decodeObject({ apiVersion, metadata: { name: 'node-a', labels }, ...fields });
    assert.ok(result.kind === 'object');
    assert.equal(isSelected(result.object, 'node-a'), want);
  });
}

test('FILES-2 the Node of another machine is not selected', () => {
  const result = decodeObject({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-b' } });
  assert.ok(result.kind === 'object');
  assert.equal(isSelected(result.object, 'node-a'), false);
});

test('FILES-2 the selectors of the watches choose the same objects', () => {
  assert.equal(SERVICE_LABEL_SELECTOR, '!service.kubernetes.io/service-proxy-name');
  assert.equal(SERVICE_FIELD_SELECTOR, 'spec.clusterIP!=None');
  assert.equal(ENDPOINT_SLICE_LABEL_SELECTOR, '!service.kubernetes.io/headless');
  assert.equal(nodeFieldSelector('node-a'), 'metadata.name=node-a');
});
