import type { Outcome, Place } from '../../../../explain/index.ts';
import type { EndpointDetail, FrontendDetail, PortDetail } from '../../../../inspect/index.ts';

// What the tests of this view are made from.

type Answered = Extract<Outcome, { readonly kind: 'answered' }>;

export function endpoint(address: string, overrides: Partial<EndpointDetail> = {}): EndpointDetail {
  return {
    address,
    node: 'node-b',
    local: false,
    clusterPolicy: { used: true, reason: 'ready' },
    ready: true,
    serving: true,
    terminating: false,
    ...overrides,
  };
}

/** Answered by these endpoints with equal odds. */
export function answered(texts: readonly string[], overrides: Partial<Answered> = {}): Answered {
  const count = texts.length + (overrides.lost?.length ?? 0);
  return {
    kind: 'answered',
    endpoints: texts.map(text => ({ text, seenAs: 'itself', sourceIP: undefined, odds: 1 / count })),
    lost: [],
    isSticky: false,
    choice: { kind: 'random' },
    remarks: [],
    ...overrides,
  };
}

/** The same, and endpoints see the node. */
export function answeredAsNode(texts: readonly string[]): Answered {
  const outcome = answered(texts);
  return { ...outcome, endpoints: outcome.endpoints.map(each => ({ ...each, seenAs: 'node' })) };
}

export const REFUSED: Extract<Outcome, { readonly kind: 'refused' }> = {
  kind: 'refused',
  code: 'no-endpoints',
  reason: 'no endpoint of shop/web can serve',
};
export const NO_LOCAL: Outcome = {
  kind: 'silent',
  code: 'no-local-endpoints',
  reason: 'externalTrafficPolicy is Local, and no endpoint of shop/web that can serve is on this node',
};
export const EXCLUDED: Outcome = {
  kind: 'silent',
  code: 'source-ranges',
  reason: 'loadBalancerSourceRanges (192.0.2.0/24) does not contain 198.51.100.7',
};

export function frontend(
  outcomes: Outcome | Readonly<Record<Place, Outcome>>,
  overrides: Partial<FrontendDetail> = {},
): FrontendDetail {
  const all = 'kind' in outcomes ? { pod: outcomes, node: outcomes, outside: outcomes } : outcomes;
  const count = (outcome: Outcome) => (outcome.kind === 'answered' ? outcome.endpoints.length : 0);
  const lost = (outcome: Outcome) => (outcome.kind === 'answered' ? outcome.lost.length : 0);
  return {
    kind: 'ClusterIP',
    address: '10.96.0.10',
    port: 80,
    policy: 'Cluster',
    action: 'forward',
    endpoints: count(all.pod),
    shortCircuit: 'none',
    masquerade: 'from-outside',
    askedAt: overrides.address ?? '10.96.0.10',
    outcomes: all,
    answering: { pod: count(all.pod), node: count(all.node), outside: count(all.outside) },
    losing: { pod: lost(all.pod), node: lost(all.node), outside: lost(all.outside) },
    ...overrides,
  };
}

/** A frontend at the port of the node, without an address. */
export function nodePort(outcomes: Parameters<typeof frontend>[0], overrides: Partial<FrontendDetail> = {}) {
  const { address: _, ...rest } = frontend(outcomes, {
    kind: 'NodePort',
    port: 30_080,
    askedAt: '192.168.0.2',
    ...overrides,
  });
  return { ...rest, acceptedAt: ['192.168.0.2'] } satisfies FrontendDetail;
}

export function port(
  frontends: readonly FrontendDetail[],
  endpoints: readonly EndpointDetail[],
  overrides: Partial<PortDetail> = {},
): PortDetail {
  return {
    name: 'http',
    protocol: 'TCP',
    family: 'IPv4',
    internalTrafficPolicy: 'Cluster',
    frontends,
    conflicts: [],
    endpoints,
    endpointCount: endpoints.length,
    ...overrides,
  };
}
