import { PROGRAMMED_NAMESPACE } from '../../../api/index.ts';
import { DEFAULT_SOCKET } from '../../../inspect/index.ts';
import { ALGORITHMS, type Algorithm } from '../../../model/index.ts';
import { EBPF_SOCKETS } from '../../../modes/index.ts';
import { DEFAULT_PAGE_ADDRESS, PAGE_ACTIONS } from '../../../page/index.ts';
import { addressPort, bool, duration, flag, loopbackPort, oneWordOf, someOf, string } from '../../flags/index.ts';
import { NO_BALANCE } from '../../node-flags.ts';
import { CLUSTER_FLAGS } from './cluster.ts';
import { GENERAL_FLAGS } from './general.ts';
import { LOG_FLAGS } from './log.ts';
import { MODE_FLAGS } from './modes.ts';

export const UPSTREAM_FLAGS = { ...GENERAL_FLAGS, ...CLUSTER_FLAGS, ...MODE_FLAGS, ...LOG_FLAGS };

/** Upstream v1.36 has these flags, and v1.37 does not. Command lines for v1.36 may have them. */
const FORMER_FLAG = flag(string, '', '', { deprecated: 'it has no effect: remove it' });

/** The flags that upstream does not have. */
export const OWN_FLAGS = {
  'allow-loopback-endpoints': flag(
    bool,
    false,
    'With --manifests, accept endpoints at loopback and link-local addresses. Clients from outside then reach ports that this machine opens for itself only.',
  ),
  'boot-id-file': FORMER_FLAG,
  'cgroup-root': flag(
    string,
    '',
    'In ebpf mode, path of the control group (cgroup2) whose processes are served. The default is the root of the machine.',
  ),
  'count-connections': flag(
    bool,
    false,
    'Count the connections and the traffic of service ports and endpoints, as far as the mode can. The metrics pointsman_service_* show them.',
  ),
  'default-balance': flag(
    oneWordOf<Algorithm | ''>(ALGORITHMS),
    NO_BALANCE,
    `How connections get one of the endpoints of a Service that does not choose by an annotation: ${ALGORITHMS.join(', ')}. By default each mode does what kube-proxy always did in that mode.`,
    { words: ALGORITHMS },
  ),
  'ebpf-sockets': flag(
    oneWordOf(EBPF_SOCKETS),
    'all',
    "In ebpf mode, whose sockets are translated: all translates those of pods and of the node, node only those of the node's own processes. Service meshes with sidecars need node.",
    { words: EBPF_SOCKETS },
  ),
  'inspect-bind-address': flag(
    loopbackPort,
    '',
    'Loopback address and port of the inspection API, such as 127.0.0.1:10251. By default it does not listen on TCP.',
  ),
  'inspect-socket': flag(
    string,
    DEFAULT_SOCKET,
    'Path of the Unix socket of the inspection API, which status, explain and other commands ask. An empty path switches it off.',
  ),
  'keep-node-source-ports': flag(
    bool,
    false,
    'In nftables, iptables and ebpf mode, let masqueraded TCP connections of node processes keep their source port if it is free. A random port may be one that the endpoint still has in TIME_WAIT: the connection then waits.',
  ),
  'machine-id-file': FORMER_FLAG,
  manifests: flag(
    string,
    '',
    'Folder or file with manifests, which the proxy reads instead of the API server. The default mode is then nftables.',
  ),
  'page-allow': flag(
    someOf(PAGE_ACTIONS),
    [],
    "What the operator's page may do besides reading: probe connects to endpoints, trace follows packets. With both it can send a packet to follow. By default neither.",
    { words: PAGE_ACTIONS },
  ),
  'page-bind-address': flag(
    addressPort,
    '',
    `Address and port of the operator's page, such as ${DEFAULT_PAGE_ADDRESS}, which is the default with --manifests. Otherwise there is no page by default. An address that is no loopback address needs --page-tls-cert-file, --page-tls-key-file and --page-token-file.`,
  ),
  'page-tls-cert-file': flag(string, '', "File with the certificate of the operator's page in PEM."),
  'page-tls-key-file': flag(string, '', 'File with the key of that certificate in PEM.'),
  'page-token-file': flag(
    string,
    '',
    "File with the token that the operator's page asks for. It has 16 characters or more.",
  ),
  'report-programmed': flag(
    bool,
    false,
    'Keep a Lease for this node that says up to which resource versions everything is in the kernel. "kube-proxy wait --all-nodes" and controllers read it.',
  ),
  'report-programmed-interval': flag(
    duration,
    5_000_000_000n,
    'With --report-programmed, the least time between two writes of the Lease. A cluster of N nodes writes at most N Leases in this time.',
  ),
  'report-programmed-namespace': flag(
    string,
    PROGRAMMED_NAMESPACE,
    'With --report-programmed, namespace of the Lease.',
  ),
};

export const KUBE_PROXY_FLAGS = { ...UPSTREAM_FLAGS, ...OWN_FLAGS };

export type KubeProxyFlags = typeof KUBE_PROXY_FLAGS;
