import { bool, int32, ip, ipPort, mapStringBool, string, version } from '../../flags/index.ts';
import { KUBERNETES_VERSION } from '../../version.ts';
import { flag } from './define.ts';
import { FEATURE_GATES_HELP } from './feature-gates-help.ts';

const DEPRECATED = 'This flag is deprecated and will be removed in a future release. Please use';

/** The process and its servers. */
export const GENERAL_FLAGS = {
  config: flag(
    string,
    '',
    'Path of the configuration file. Of the other flags only --cleanup, --hostname-override, --init-only, --master, --write-config-to and those of the log then count.',
  ),
  'write-config-to': flag(
    string,
    '',
    'Write the configuration that results from file or flags to this path, and exit.',
  ),
  cleanup: flag(bool, false, 'Remove all that the proxy made in the kernel, in every mode, and exit.'),
  'init-only': flag(
    bool,
    false,
    'Do what takes full root privileges, and exit. The proxy can then run with CAP_NET_ADMIN alone.',
  ),
  'feature-gates': flag(mapStringBool, new Map<string, boolean>(), FEATURE_GATES_HELP),
  'healthz-bind-address': flag(ipPort, '0.0.0.0:10256', 'Address and port of the health server.'),
  'healthz-port': flag(int32, 10256, 'Port of the health server; 0 for none.', {
    deprecated: `${DEPRECATED} --healthz-bind-address instead.`,
  }),
  'metrics-bind-address': flag(
    ipPort,
    '127.0.0.1:10249',
    'Address and port of the metrics server; 0.0.0.0:10249 or [::]:10249 for all interfaces.',
  ),
  'metrics-port': flag(int32, 10249, 'Port of the metrics server.', {
    deprecated: `${DEPRECATED} --metrics-bind-address instead.`,
  }),
  'bind-address-hard-fail': flag(bool, false, 'Exit if a port cannot be listened on.'),
  profiling: flag(bool, false, 'Serve profiles at /debug/pprof of the metrics server.'),
  'show-hidden-metrics-for-version': flag(
    string,
    '',
    'Show the metrics that are hidden since this version, as <major>.<minor>. It must be the previous minor version.',
  ),
  'oom-score-adj': flag(int32, -999, 'The oom_score_adj of this process, within [-1000, 1000].'),
  'bind-address': flag(
    ip,
    '0.0.0.0',
    "The node's primary IP, if it is not what the Node says. Nothing is bound to it, whatever the name says.",
  ),
  'boot-id-file': flag(string, ['/proc', 'sys/kernel/random/boot_id'].join('/'), 'Accepted, without effect.'),
  'machine-id-file': flag(string, '/etc/machine-id,/var/lib/dbus/machine-id', 'Accepted, without effect.'),
  help: flag(bool, false, 'This help.', { shorthand: 'h' }),
  version: flag(
    version(KUBERNETES_VERSION),
    { choice: 'false', reported: KUBERNETES_VERSION },
    '--version and --version=raw print the version and exit; --version=vX.Y.Z... sets the version that is reported.',
  ),
};
