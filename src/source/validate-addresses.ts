import { type EndpointSlice, type FieldPath, type FieldProblem, fieldProblem, type Service } from '../api/index.ts';
import { type Family, familyOf, parseCidr, parseIp, type SpecialRange, specialRangeOf } from '../net/index.ts';

export interface ManifestRules {
  /** Endpoints may be at loopback and link-local addresses, which lead to this machine's own ports. */
  readonly allowLoopbackEndpoints: boolean;
}

export const DEFAULT_RULES: ManifestRules = { allowLoopbackEndpoints: false };

/** What an API server says about addresses of these ranges. */
const REFUSALS: Readonly<Record<SpecialRange, string>> = {
  unspecified: 'may not be unspecified (0.0.0.0 or ::)',
  loopback: 'may not be in the loopback range (127.0.0.0/8, ::1/128)',
  'link-local': 'may not be in the link-local range (169.254.0.0/16, fe80::/10)',
  multicast: 'may not be in the multicast range (224.0.0.0/4, ff00::/8)',
};
const NO_SPECIAL = ['unspecified', 'loopback', 'link-local', 'multicast'] as const;
const NO_UNREACHABLE = ['unspecified', 'multicast'] as const;

/** Finds addresses of a Service that an API server would refuse. */
export function validateServiceAddresses({ spec, status }: Service): readonly FieldProblem[] {
  const externalIPs = spec.externalIPs.flatMap((text, i) =>
    validateIp(['spec', 'externalIPs', i], text, undefined, NO_SPECIAL),
  );
  const ingress = status.loadBalancer.ingress.flatMap(({ ip }, i) =>
    ip === '' ? [] : validateIp(['status', 'loadBalancer', 'ingress', i, 'ip'], ip),
  );
  const ranges = spec.loadBalancerSourceRanges.flatMap((text, i) => {
    const path = ['spec', 'loadBalancerSourceRanges', i];
    return parseCidr(text.trim()) ? [] : [fieldProblem(path, `is ${JSON.stringify(text)}, but must be a CIDR`)];
  });
  return [...validateClusterIPs(spec), ...externalIPs, ...ingress, ...ranges];
}

function validateClusterIPs({ type, clusterIP, clusterIPs, ipFamilies }: Service['spec']): readonly FieldProblem[] {
  if (type === 'ExternalName' || clusterIP === '' || clusterIP === 'None') return [];
  const [first] = clusterIPs;
  if (first !== clusterIP) {
    const message = `is ${JSON.stringify(clusterIP)}, but must be the first of spec.clusterIPs`;
    return [fieldProblem(['spec', 'clusterIP'], message)];
  }
  return clusterIPs.flatMap((text, i) => {
    const path = i === 0 ? ['spec', 'clusterIP'] : ['spec', 'clusterIPs', i];
    return validateIp(path, text, ipFamilies[i]);
  });
}

/** Finds addresses of endpoints that an API server would refuse. It refuses multicast only if it is link-local. */
export function validateEndpointAddresses(
  { addressType, endpoints }: EndpointSlice,
  { allowLoopbackEndpoints }: ManifestRules,
): readonly FieldProblem[] {
  if (addressType === 'FQDN') return [];
  const refused = allowLoopbackEndpoints ? NO_UNREACHABLE : NO_SPECIAL;
  return endpoints.flatMap(({ addresses }, i) => {
    const path = ['endpoints', i, 'addresses'];
    if (addresses.length === 0) return [fieldProblem(path, 'must contain at least 1 address')];
    return addresses.flatMap((text, j) => validateIp([...path, j], text, addressType, refused));
  });
}

/** `family`: another text than a family is ignored, because it is a problem of its own. */
function validateIp(
  path: FieldPath,
  text: string,
  family?: Family | string,
  refused: readonly SpecialRange[] = [],
): readonly FieldProblem[] {
  const ip = parseIp(text);
  const isWrongFamily = ip !== undefined && (family === 'IPv4' || family === 'IPv6') && familyOf(ip) !== family;
  if (ip === undefined || isWrongFamily) {
    const wanted = ip === undefined ? 'a valid IP address' : `an ${family} address`;
    return [fieldProblem(path, `is ${JSON.stringify(text)}, but must be ${wanted}`)];
  }
  const range = specialRangeOf(ip);
  if (range === undefined || !refused.includes(range)) return [];
  return [fieldProblem(path, `is ${JSON.stringify(text)}, but ${REFUSALS[range]}`)];
}
