import { KUBERNETES_VERSION } from '../../../lib/kubernetes-version.ts';
import { bool, flag, int32, ip, ipPort, mapStringBool, string, version } from '../../flags/index.ts';

/** Upstream's text. */
const DEPRECATED = 'This flag is deprecated and will be removed in a future release. Please use';

const FEATURE_GATES =
  'Feature gates to set, as key=value pairs. The proxy ignores gates of other programs. "kube-proxy help feature-gates" lists them.';

/** Flags of the process and its servers. */
export const GENERAL_FLAGS = {
  config: flag(
    string,
    '',
    'Path of the configuration file. With it, the proxy ignores all other flags, except --allow-loopback-endpoints, --cgroup-root, --cleanup, --count-connections, --default-balance, --ebpf-sockets, --hostname-override, --init-only, --inspect-bind-address, --inspect-socket, --keep-node-source-ports, --manifests, --master, --report-programmed, --report-programmed-interval, --report-programmed-namespace, --write-config-to, those of the page and of the log.',
  ),
  'write-config-to': flag(string, '', 'Write the configuration, including all defaults, to this file, and exit.'),
  cleanup: flag(bool, false, 'Remove everything that the proxy wrote to the kernel, in every mode, and exit.'),
  'init-only': flag(
    bool,
    false,
    'Do only the steps that need full root privileges, and exit. The proxy can then run with CAP_NET_ADMIN alone.',
  ),
  'feature-gates': flag(mapStringBool, new Map<string, boolean>(), FEATURE_GATES),
  'healthz-bind-address': flag(ipPort, '0.0.0.0:10256', 'IP address and port of the health server.'),
  'healthz-port': flag(int32, 10256, 'Port of the health server. 0 switches the server off.', {
    deprecated: `${DEPRECATED} --healthz-bind-address instead.`,
  }),
  'metrics-bind-address': flag(
    ipPort,
    '127.0.0.1:10249',
    'IP address and port of the metrics server. Use 0.0.0.0:10249 or [::]:10249 for all interfaces.',
  ),
  'metrics-port': flag(int32, 10249, 'Port of the metrics server.', {
    deprecated: `${DEPRECATED} --metrics-bind-address instead.`,
  }),
  'bind-address-hard-fail': flag(
    bool,
    false,
    'Exit if the health server or the metrics server cannot listen on its address.',
  ),
  profiling: flag(bool, false, 'Serve profiles under /debug/pprof of the metrics server.'),
  'show-hidden-metrics-for-version': flag(
    string,
    '',
    'Show the metrics that were not yet hidden in this version, given as <major>.<minor>. It must be the previous minor version.',
  ),
  'oom-score-adj': flag(int32, -999, 'The oom_score_adj of the proxy process, from -1000 to 1000.'),
  'bind-address': flag(
    ip,
    '0.0.0.0',
    'Primary IP address of the node. It overrides the address in the Node object, unless it is 0.0.0.0 or ::. Only userspace mode listens on it.',
  ),
  help: flag(bool, false, 'Print this help.', { shorthand: 'h' }),
  version: flag(
    version(KUBERNETES_VERSION),
    { choice: 'false', reported: KUBERNETES_VERSION },
    '--version and --version=raw print the version and exit. --version=vX.Y.Z... sets the version that the proxy reports.',
  ),
};
