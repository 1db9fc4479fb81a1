import { MINUTE } from '../../../lib/duration.ts';
import { NONE } from '../../../lib/none.ts';
import { duration, flag, float32, int32, string, stringSlice, word } from '../../flags/index.ts';

/** Flags of the API server, the node and local traffic. */
export const CLUSTER_FLAGS = {
  kubeconfig: flag(
    string,
    '',
    'Path of the kubeconfig file. Without this flag and --master, the proxy uses the service account of its pod.',
  ),
  master: flag(string, '', 'URL of the API server. It overrides the URL in the kubeconfig file.'),
  'kube-api-content-type': flag(
    string,
    'application/vnd.kubernetes.protobuf',
    'Content type of requests to the API server.',
  ),
  'kube-api-burst': flag(int32, 10, 'Number of requests that the proxy may send to the API server at once.'),
  'kube-api-qps': flag(float32, 5, 'Number of requests that the proxy may send to the API server per second.'),
  'config-sync-period': flag(
    duration,
    15n * MINUTE,
    'How often the proxy processes all objects again. Must be greater than 0.',
  ),
  'hostname-override': flag(string, '', 'Name of the node. The default is the host name of the machine.'),
  'cluster-cidr': flag(
    string,
    '',
    'Address range of the pods in the cluster. For both IP families, give two ranges, separated by a comma. With --detect-local-mode ClusterCIDR, traffic from these ranges is local.',
  ),
  'detect-local-mode': flag(
    word('LocalMode'),
    '',
    'How the proxy detects local traffic: ClusterCIDR (default), NodeCIDR, BridgeInterface or InterfaceNamePrefix.',
  ),
  'pod-bridge-interface': flag(
    string,
    '',
    'With --detect-local-mode BridgeInterface, traffic from this bridge is local.',
  ),
  'pod-interface-name-prefix': flag(
    string,
    '',
    'With --detect-local-mode InterfaceNamePrefix, traffic from interfaces whose names start with this prefix is local.',
  ),
  'nodeport-addresses': flag(
    stringSlice,
    NONE,
    'Address ranges and keywords: the node accepts node ports at its addresses in these ranges. The keyword primary stands for the primary addresses of the node, localhost for 127.0.0.0/8 and ::1/128, all for 0.0.0.0/0 and ::/0. The default is primary in nftables mode, and all in other modes.',
  ),
};
