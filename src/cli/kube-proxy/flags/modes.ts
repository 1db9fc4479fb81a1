import { HOUR, SECOND } from '../../../lib/duration.ts';
import { bool, duration, int32, string, stringSlice, word } from '../../flags/index.ts';
import { flag } from './define.ts';

const NONE: readonly string[] = [];
const SYNC_PERIOD = "How often everything is looked at again (e.g. '5s', '1m', '2h22m'). Must be greater than 0.";
const MIN_SYNC_PERIOD = 'Least time between two syncs; with 0 every change is programmed at once.';

/** How Services are programmed. */
export const MODE_FLAGS = {
  'proxy-mode': flag(word('ProxyMode'), '', 'iptables (default), ipvs, nftables or userspace.'),
  'masquerade-all': flag(bool, false, 'Masquerade all traffic to cluster IPs, in every mode.'),
  'iptables-localhost-nodeports': flag(
    bool,
    true,
    'In iptables mode, node ports can be reached at 127.0.0.1. In other modes, and for IPv6, they never can.',
  ),
  'iptables-masquerade-bit': flag(
    int32,
    14,
    'In iptables and ipvs mode, the bit of the mark of packets that are to be masqueraded, within [0, 31].',
  ),
  'iptables-min-sync-period': flag(duration, SECOND, `In all modes but ipvs. ${MIN_SYNC_PERIOD}`),
  'iptables-sync-period': flag(duration, 30n * SECOND, `In all modes but ipvs. ${SYNC_PERIOD}`),
  'ipvs-exclude-cidrs': flag(
    stringSlice,
    NONE,
    'Ranges of virtual servers that ipvs mode leaves alone when it cleans up.',
  ),
  'ipvs-min-sync-period': flag(duration, SECOND, `In ipvs mode. ${MIN_SYNC_PERIOD}`),
  'ipvs-scheduler': flag(string, '', 'Scheduler of ipvs mode: rr (default), wrr, lc, sh, mh, …'),
  'ipvs-strict-arp': flag(bool, false, 'In ipvs mode, set arp_ignore to 1 and arp_announce to 2.'),
  'ipvs-sync-period': flag(duration, 30n * SECOND, `In ipvs mode. ${SYNC_PERIOD}`),
  'ipvs-tcp-timeout': flag(duration, 0n, 'Timeout of idle TCP connections of IPVS; 0 leaves it as it is.'),
  'ipvs-tcpfin-timeout': flag(duration, 0n, 'Timeout of TCP connections of IPVS after a FIN; 0 leaves it as it is.'),
  'ipvs-udp-timeout': flag(duration, 0n, 'Timeout of UDP packets of IPVS; 0 leaves it as it is.'),
  'conntrack-max-per-core': flag(
    int32,
    32768,
    'Connections to track for each CPU core; 0 leaves the limit as it is and ignores --conntrack-min.',
  ),
  'conntrack-min': flag(int32, 131072, 'Connections to track at least, whatever --conntrack-max-per-core says.'),
  'conntrack-tcp-be-liberal': flag(bool, false, 'Set nf_conntrack_tcp_be_liberal to 1.'),
  'conntrack-tcp-timeout-close-wait': flag(
    duration,
    HOUR,
    'Timeout of TCP connections in CLOSE_WAIT; 0 leaves it as it is.',
  ),
  'conntrack-tcp-timeout-established': flag(
    duration,
    24n * HOUR,
    'Timeout of idle TCP connections; 0 leaves it as it is.',
  ),
  'conntrack-udp-timeout': flag(duration, 0n, 'Timeout of UDP connections that got no answer; 0 leaves it as it is.'),
  'conntrack-udp-timeout-stream': flag(
    duration,
    0n,
    'Timeout of UDP connections that got answers; 0 leaves it as it is.',
  ),
};
