import { bool, string } from '../../flags/index.ts';
import { CLUSTER_FLAGS } from './cluster.ts';
import { flag } from './define.ts';
import { GENERAL_FLAGS } from './general.ts';
import { LOG_FLAGS } from './log.ts';
import { MODE_FLAGS } from './modes.ts';

/** The flags that upstream has. */
export const UPSTREAM_FLAGS = { ...GENERAL_FLAGS, ...CLUSTER_FLAGS, ...MODE_FLAGS, ...LOG_FLAGS };

/** The flags that only we have. */
export const OWN_FLAGS = {
  'count-connections': flag(
    bool,
    false,
    'In nftables mode, have the kernel count new connections by service port, and show them as pointsman_service_connections_total. Counts beside a configuration file, too.',
  ),
  manifests: flag(
    string,
    '',
    'Folder or file of manifests that stands for the API server. The mode is nftables unless said otherwise.',
  ),
};

export const KUBE_PROXY_FLAGS = { ...UPSTREAM_FLAGS, ...OWN_FLAGS };

export type KubeProxyFlags = typeof KUBE_PROXY_FLAGS;
