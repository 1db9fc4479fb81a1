import type { KubeObject } from '../api/index.ts';

/** A value without fields of its own, or a map whose keys are free, such as labels. */
export const LEAF = 'leaf';

/** The fields of a map in the API, by name. For a list of maps, the fields of its items. */
export interface KnownFields {
  readonly [name: string]: KnownFields | typeof LEAF;
}

function fields(leaves: string, maps: KnownFields = {}): KnownFields {
  const names = leaves.split(' ').filter(name => name !== '');
  return { ...Object.fromEntries(names.map(name => [name, LEAF] as const)), ...maps };
}

const NAME = fields('name');
const CONDITIONS = fields('lastTransitionTime message observedGeneration reason status type');
const CONFIG_SOURCE = fields('', { configMap: fields('kubeletConfigKey name namespace resourceVersion uid') });

const METADATA = fields(
  'annotations creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generateName generation ' +
    'labels name namespace resourceVersion selfLink uid',
  {
    managedFields: fields('apiVersion fieldsType fieldsV1 manager operation subresource time'),
    ownerReferences: fields('apiVersion blockOwnerDeletion controller kind name uid'),
  },
);

const OBJECT = fields('apiVersion kind', { metadata: METADATA });

const SERVICE_SPEC = fields(
  'allocateLoadBalancerNodePorts clusterIP clusterIPs externalIPs externalName externalTrafficPolicy ' +
    'healthCheckNodePort internalTrafficPolicy ipFamilies ipFamilyPolicy loadBalancerClass loadBalancerIP ' +
    'loadBalancerSourceRanges publishNotReadyAddresses selector sessionAffinity trafficDistribution type',
  {
    ports: fields('appProtocol name nodePort port protocol targetPort'),
    sessionAffinityConfig: fields('', { clientIP: fields('timeoutSeconds') }),
  },
);

const SERVICE_STATUS = fields('', {
  conditions: CONDITIONS,
  loadBalancer: fields('', { ingress: fields('hostname ip ipMode', { ports: fields('error port protocol') }) }),
});

const ENDPOINTS = fields('addresses deprecatedTopology hostname nodeName zone', {
  conditions: fields('ready serving terminating'),
  hints: fields('', { forNodes: NAME, forZones: NAME }),
  targetRef: fields('apiVersion fieldPath kind name namespace resourceVersion uid'),
});

const NODE_SPEC = fields('externalID podCIDR podCIDRs providerID unschedulable', {
  configSource: CONFIG_SOURCE,
  podPreemptionPolicy: fields('disableResizePreemption'),
  taints: fields('effect key timeAdded value'),
});

const NODE_STATUS = fields('allocatable capacity declaredFeatures phase volumesInUse', {
  addresses: fields('address type'),
  conditions: fields('lastHeartbeatTime lastTransitionTime message reason status type'),
  config: fields('error', { active: CONFIG_SOURCE, assigned: CONFIG_SOURCE, lastKnownGood: CONFIG_SOURCE }),
  daemonEndpoints: fields('', { kubeletEndpoint: fields('Port') }),
  features: fields('supplementalGroupsPolicy'),
  images: fields('names sizeBytes'),
  nodeInfo: fields(
    'architecture bootID containerRuntimeVersion kernelVersion kubeProxyVersion kubeletVersion machineID ' +
      'operatingSystem osImage runningInUserNamespace systemUUID',
    { swap: fields('capacity') },
  ),
  runtimeHandlers: fields('name', { features: fields('recursiveReadOnlyMounts userNamespaces') }),
  volumesAttached: fields('devicePath name'),
});

/**
 * All fields that the API has for each kind, also those that a proxy does not use. A test compares this table with a
 * real API server.
 */
export const KNOWN_FIELDS: Readonly<Record<KubeObject['kind'], KnownFields>> = {
  Service: { ...OBJECT, spec: SERVICE_SPEC, status: SERVICE_STATUS },
  EndpointSlice: {
    ...OBJECT,
    ...fields('addressType', { endpoints: ENDPOINTS, ports: fields('appProtocol name port protocol') }),
  },
  Node: { ...OBJECT, spec: NODE_SPEC, status: NODE_STATUS },
  ServiceCIDR: { ...OBJECT, spec: fields('cidrs'), status: fields('', { conditions: CONDITIONS }) },
};
