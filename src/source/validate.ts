import {
  type EndpointSlice,
  type FieldProblem,
  fieldProblem,
  type KubeObject,
  type Service,
  type ServicePortSpec,
} from '../api/index.ts';

const SERVICE_TYPES = ['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'];
const AFFINITIES = ['None', 'ClientIP'];
const POLICIES = ['Cluster', 'Local'];
const FAMILIES = ['IPv4', 'IPv6'];
const IP_MODES = ['VIP', 'Proxy'];
const ADDRESS_TYPES = ['IPv4', 'IPv6', 'FQDN'];
const MAX_AFFINITY_TIMEOUT_SECONDS = 86_400;

/**
 * What an API server would have refused and would otherwise go unnoticed: `externalTrafficPolicy: local` quietly means
 * Cluster. Only for manifests; what an API server hands out was checked by one that may know more values than these.
 */
export function validateManifest(object: KubeObject): readonly FieldProblem[] {
  switch (object.kind) {
    case 'Service':
      return validateService(object);
    case 'EndpointSlice':
      return validateSlice(object);
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
    const message = 'is missing, and nobody allocates one here: write an address, or None for a headless Service';
    problems.push(fieldProblem(['spec', 'clusterIP'], message));
  }
  return [...problems, ...validatePorts(spec.ports)];
}

/** A port is known by its name here, and by its number and protocol to clients: both must tell it from the others. */
function validatePorts(ports: readonly ServicePortSpec[]): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const names = new Set<string>();
  const numbers = new Set<string>();
  for (const [i, { name, port, protocol }] of ports.entries()) {
    const path = ['spec', 'ports', i, 'name'];
    if (ports.length > 1 && name === '') {
      problems.push(fieldProblem(path, 'is missing: ports need names if there is more than one'));
    } else if (names.has(name)) {
      problems.push(fieldProblem(path, `is ${name}, as that of another port: give it a name of its own`));
    }
    names.add(name);
    const number = `${port}/${protocol}`;
    if (numbers.has(number)) {
      const message = `is ${number}, as that of another port: one of them can be taken away`;
      problems.push(fieldProblem(['spec', 'ports', i, 'port'], message));
    }
    numbers.add(number);
  }
  return problems;
}

function validateSlice(slice: EndpointSlice): readonly FieldProblem[] {
  if (slice.addressType !== '') return oneOf(['addressType'], slice.addressType, ADDRESS_TYPES);
  return [fieldProblem(['addressType'], `is missing: write ${listed(ADDRESS_TYPES)}`)];
}

function oneOf(path: readonly (string | number)[], value: string, known: readonly string[]): readonly FieldProblem[] {
  if (known.includes(value)) return [];
  return [fieldProblem(path, `is ${JSON.stringify(value)}, but must be ${listed(known)}`)];
}

function listed(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
