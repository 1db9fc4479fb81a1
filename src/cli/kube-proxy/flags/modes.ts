import { HOUR, SECOND } from '../../../lib/duration.ts';
import { NONE } from '../../../lib/none.ts';
import { bool, duration, flag, int32, string, stringSlice, word } from '../../flags/index.ts';

const SYNC_PERIOD =
  "how often the proxy checks its rules and retries failed syncs (e.g. '5s', '1m', '2h22m'). Must be greater than 0.";
const MIN_SYNC_PERIOD =
  "the shortest time between two syncs (e.g. '5s', '1m', '2h22m'). With 0, the proxy programs every change at once.";
const KEEP = 'With 0, the kernel keeps its current value.';

/** Flags of the modes, and of connection tracking. */
export const MODE_FLAGS = {
  'proxy-mode': flag(
    word('ProxyMode'),
    '',
    'How the proxy programs the kernel: iptables (default), ipvs, nftables, ebpf or userspace.',
  ),
  'masquerade-all': flag(bool, false, 'In every mode, masquerade all traffic to cluster IPs.'),
  'iptables-localhost-nodeports': flag(
    bool,
    true,
    'In iptables mode, accept IPv4 node ports at 127.0.0.1. Other modes ignore this flag.',
  ),
  'iptables-masquerade-bit': flag(
    int32,
    14,
    'In iptables and ipvs mode, the bit of the packet mark that stands for masquerading, from 0 to 31.',
  ),
  'iptables-min-sync-period': flag(duration, SECOND, `In all modes except ipvs: ${MIN_SYNC_PERIOD}`),
  'iptables-sync-period': flag(duration, 30n * SECOND, `In all modes except ipvs: ${SYNC_PERIOD}`),
  'ipvs-exclude-cidrs': flag(
    stringSlice,
    NONE,
    'Address ranges: ipvs mode does not remove virtual servers in these ranges.',
  ),
  'ipvs-min-sync-period': flag(duration, SECOND, `In ipvs mode: ${MIN_SYNC_PERIOD}`),
  'ipvs-scheduler': flag(string, '', 'Scheduler of ipvs mode: rr (default), wrr, lc, sh, mh, …'),
  'ipvs-strict-arp': flag(bool, false, 'In ipvs mode, set arp_ignore to 1 and arp_announce to 2.'),
  'ipvs-sync-period': flag(duration, 30n * SECOND, `In ipvs mode: ${SYNC_PERIOD}`),
  'ipvs-tcp-timeout': flag(duration, 0n, `Timeout of idle TCP connections in IPVS. ${KEEP}`),
  'ipvs-tcpfin-timeout': flag(duration, 0n, `Timeout of TCP connections in IPVS after a FIN. ${KEEP}`),
  'ipvs-udp-timeout': flag(duration, 0n, `Timeout of UDP connections in IPVS. ${KEEP}`),
  'conntrack-max-per-core': flag(
    int32,
    32768,
    'Maximum number of tracked connections for each CPU core. With 0, the kernel keeps its current limit, and --conntrack-min has no effect.',
  ),
  'conntrack-min': flag(
    int32,
    131072,
    'Minimum for the limit of tracked connections, regardless of --conntrack-max-per-core.',
  ),
  'conntrack-tcp-be-liberal': flag(bool, false, 'Set nf_conntrack_tcp_be_liberal to 1.'),
  'conntrack-tcp-timeout-close-wait': flag(
    duration,
    HOUR,
    `Timeout of TCP connections in the state CLOSE_WAIT. ${KEEP}`,
  ),
  'conntrack-tcp-timeout-established': flag(duration, 24n * HOUR, `Timeout of idle TCP connections. ${KEEP}`),
  'conntrack-udp-timeout': flag(duration, 0n, `Timeout of UDP connections without an answer. ${KEEP}`),
  'conntrack-udp-timeout-stream': flag(duration, 0n, `Timeout of UDP connections with answers. ${KEEP}`),
};
