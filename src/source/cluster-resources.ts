import type { EndpointSlice, Node, Service, ServiceCIDR } from '../api/index.ts';
import type { Resource } from '../client/informer/index.ts';
import {
  ENDPOINT_SLICE_LABEL_SELECTOR,
  nodeFieldSelector,
  SERVICE_FIELD_SELECTOR,
  SERVICE_LABEL_SELECTOR,
} from './selectors.ts';

export const SERVICES: Resource<Service> = {
  kind: 'Service',
  apiVersion: 'v1',
  path: '/api/v1/services',
  labelSelector: SERVICE_LABEL_SELECTOR,
  fieldSelector: SERVICE_FIELD_SELECTOR,
};

export const ENDPOINT_SLICES: Resource<EndpointSlice> = {
  kind: 'EndpointSlice',
  apiVersion: 'discovery.k8s.io/v1',
  path: '/apis/discovery.k8s.io/v1/endpointslices',
  labelSelector: ENDPOINT_SLICE_LABEL_SELECTOR,
};

/** Older API servers do not have this resource, and OpenShift's role for kube-proxy does not allow to read it. */
export const SERVICE_CIDRS: Resource<ServiceCIDR> = {
  kind: 'ServiceCIDR',
  apiVersion: 'networking.k8s.io/v1',
  path: '/apis/networking.k8s.io/v1/servicecidrs',
  isOptional: true,
};

export function ownNode(nodeName: string): Resource<Node> {
  return { kind: 'Node', apiVersion: 'v1', path: '/api/v1/nodes', fieldSelector: nodeFieldSelector(nodeName) };
}

/** All objects of the kinds that a proxy uses, also those that no proxy selects. */
export const ALL_RESOURCES: readonly Resource[] = [
  { kind: 'Node', apiVersion: 'v1', path: '/api/v1/nodes' },
  SERVICE_CIDRS,
  { kind: 'Service', apiVersion: 'v1', path: SERVICES.path },
  { kind: 'EndpointSlice', apiVersion: 'discovery.k8s.io/v1', path: ENDPOINT_SLICES.path },
];
