import {
  checkName,
  DNS_SUBDOMAIN,
  type EndpointSlice,
  type EndpointSpec,
  type FieldProblem,
  fieldProblem,
  type KubeObject,
  LABEL_VALUE,
  type Service,
  type ServicePortSpec,
} from '../api/index.ts';
import { type ManifestRules, validateEndpointAddresses, validateServiceAddresses } from './validate-addresses.ts';

const SERVICE_TYPES = ['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'];
const AFFINITIES = ['None', 'ClientIP'];
const POLICIES = ['Cluster', 'Local'];
const FAMILIES = ['IPv4', 'IPv6'];
const IP_MODES = ['VIP', 'Proxy'];
const ADDRESS_TYPES = ['IPv4', 'IPv6', 'FQDN'];
const MAX_AFFINITY_TIMEOUT_SECONDS = 86_400;

/**
 * Finds values that an API server would refuse. Without this check a mistake has a silent effect: `local` instead of
 * `Local` as externalTrafficPolicy means Cluster. Objects of an API server are not checked: a newer one may know more
 * values.
 */
export function validateManifest(object: KubeObject, rules: ManifestRules): readonly FieldProblem[] {
  switch (object.kind) {
    case 'Service':
      return [...validateService(object), ...validateServiceAddresses(object)];
    case 'EndpointSlice':
      return validateSlice(object, rules);
    case 'Node':
    case 'ServiceCIDR':
      return [];
  }
}

function validateService({ spec, status }: Service): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const check = (path: readonly (string | number)[], value: string | undefined, known: readonly string[]) => {
    if (value) problems.push(...oneOf(path, value, known));
  };
  check(['spec', 'type'], spec.type, SERVICE_TYPES);
  check(['spec', 'sessionAffinity'], spec.sessionAffinity, AFFINITIES);
  check(['spec', 'externalTrafficPolicy'], spec.externalTrafficPolicy, POLICIES);
  check(['spec', 'internalTrafficPolicy'], spec.internalTrafficPolicy, POLICIES);
  for (const [i, family] of spec.ipFamilies.entries()) check(['spec', 'ipFamilies', i], family, FAMILIES);
  for (const [i, { ipMode }] of status.loadBalancer.ingress.entries()) {
    check(['status', 'loadBalancer', 'ingress', i, 'ipMode'], ipMode, IP_MODES);
  }
  const timeout = spec.sessionAffinityTimeoutSeconds;
  if (timeout !== undefined && (timeout < 1 || timeout > MAX_AFFINITY_TIMEOUT_SECONDS)) {
    const path = ['spec', 'sessionAffinityConfig', 'clientIP', 'timeoutSeconds'];
    problems.push(fieldProblem(path, `is ${timeout}, but must be from 1 to ${MAX_AFFINITY_TIMEOUT_SECONDS}`));
  }
  if (spec.clusterIP === '' && spec.type !== 'ExternalName') {
    const message =
      'is missing, and nothing allocates one for manifests: write an address, or None for a headless Service';
    problems.push(fieldProblem(['spec', 'clusterIP'], message));
  }
  return [...problems, ...validatePorts(spec.ports)];
}

/** The proxy identifies a port by its name, clients by its number and protocol. Both must be unique. */
function validatePorts(ports: readonly ServicePortSpec[]): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const names = new Set<string>();
  const numbers = new Set<string>();
  for (const [i, { name, port, protocol }] of ports.entries()) {
    const path = ['spec', 'ports', i, 'name'];
    if (ports.length > 1 && name === '') {
      problems.push(fieldProblem(path, 'is missing: if there is more than one port, each needs a name'));
    } else if (names.has(name)) {
      problems.push(fieldProblem(path, `is ${name}, which another port has too: give each port its own name`));
    }
    names.add(name);
    const number = `${port}/${protocol}`;
    if (numbers.has(number)) {
      const message = `is ${number}, which another port has too: remove one of the two`;
      problems.push(fieldProblem(['spec', 'ports', i, 'port'], message));
    }
    numbers.add(number);
  }
  return problems;
}

function validateSlice(slice: EndpointSlice, rules: ManifestRules): readonly FieldProblem[] {
  if (slice.addressType === '') {
    return [fieldProblem(['addressType'], `is missing: write ${listed(ADDRESS_TYPES)}`)];
  }
  return [
    ...oneOf(['addressType'], slice.addressType, ADDRESS_TYPES),
    ...slice.endpoints.flatMap(validateEndpointNames),
    ...validateEndpointAddresses(slice, rules),
  ];
}

function validateEndpointNames({ nodeName, zoneHints, nodeHints }: EndpointSpec, i: number): readonly FieldProblem[] {
  const hints = (kind: string, j: number) => ['endpoints', i, 'hints', kind, j, 'name'];
  return [
    ...(nodeName ? checkName(['endpoints', i, 'nodeName'], nodeName, DNS_SUBDOMAIN) : []),
    ...zoneHints.flatMap((zone, j) => checkName(hints('forZones', j), zone, LABEL_VALUE)),
    ...nodeHints.flatMap((node, j) => checkName(hints('forNodes', j), node, DNS_SUBDOMAIN)),
  ];
}

function oneOf(path: readonly (string | number)[], value: string, known: readonly string[]): readonly FieldProblem[] {
  if (known.includes(value)) return [];
  return [fieldProblem(path, `is ${JSON.stringify(value)}, but must be ${listed(known)}`)];
}

function listed(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
