/** Which tests run: their names match `focus`, and do not match `skip`. Both are regular expressions of Go. */
export interface Selection {
  readonly focus: string;
  readonly skip: string;
}

const AREAS = [
  ...['Services', 'Service endpoints', 'Networking', 'EndpointSlice', 'Proxy', 'KubeProxy', 'Conntrack', 'HostPort'],
  ...['Traffic Distribution', 'Topology', 'DNS', String.raw`\[Feature:IPv6DualStack\]`, 'Connectivity Pod'],
  ...['LoadBalancers', 'NoSNAT', 'API Server'],
];

/** Tests that need a cloud, the internet or a kernel module, that break a node, or that concern no proxy. */
const UNSUITABLE = [
  ...[String.raw`\[Disruptive\]`, String.raw`\[Serial\]`, 'GCE', 'IPerf', 'Internet connection', 'SCTP'],
  ...['PerformanceDNS', 'Feature:Networking-DNS', 'EndpointSlice should (create|have|support)'],
];

/** Everything that a proxy can break. */
export const MAIN_LIST: Selection = {
  focus: String.raw`\[sig-network\] (${AREAS.join('|')})`,
  skip: UNSUITABLE.join('|'),
};

const SHORT_AREAS = [
  ...['Services', 'Conntrack', 'Proxy version', 'KubeProxy', 'HostPort', 'NoSNAT', 'Traffic Distribution'],
  ...['Networking should', 'Networking Granular Checks: Services should function for (pod|node)-Service'],
  String.raw`\[Feature:IPv6DualStack\] Granular Checks: Services Secondary IP Family \[LinuxOnly\] should function for pod`,
  ...['DNS should provide DNS for (services|the cluster)', 'LoadBalancers ExternalTrafficPolicy: Local'],
];

/** Tests of more than a minute, or of what another test of the selection shows too. */
const LONG = [
  ...[
    'affinity timeout',
    'up and down services',
    'service-proxy-name',
    'invalid conntrack',
    'should only target nodes',
  ],
  ...['hostNetwork: true', 'to terminating and unready', 'to local terminating'],
];

/** About ten minutes on two processors. */
export const SHORT_SELECTION: Selection = {
  focus: String.raw`\[sig-network\] (${SHORT_AREAS.join('|')})`,
  skip: [...UNSUITABLE, ...LONG].join('|'),
};

/** Tests that make many connections through Services. A proxy that restarts delays them, but must not break them. */
export const CONNECTIONS: Selection = {
  focus: String.raw`\[sig-network\] (Networking Granular Checks: Services should function for|Services should (serve|have session affinity work))`,
  skip: MAIN_LIST.skip,
};
