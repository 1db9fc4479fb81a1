import { MINUTE } from '../../../lib/duration.ts';
import { duration, float32, int32, string, stringSlice, word } from '../../flags/index.ts';
import { flag } from './define.ts';

const NONE: readonly string[] = [];

/** The API server, the node, and whose traffic is local. */
export const CLUSTER_FLAGS = {
  kubeconfig: flag(
    string,
    '',
    'Path of the kubeconfig file. Without it and --master the service account of the pod is used.',
  ),
  master: flag(string, '', 'URL of the API server, instead of the one in the kubeconfig file.'),
  'kube-api-content-type': flag(
    string,
    'application/vnd.kubernetes.protobuf',
    'Content type of requests to the API server.',
  ),
  'kube-api-burst': flag(int32, 10, 'Requests to the API server that may come at once.'),
  'kube-api-qps': flag(float32, 5, 'Requests to the API server a second.'),
  'config-sync-period': flag(
    duration,
    15n * MINUTE,
    'How often all objects are gone through again. Must be greater than 0.',
  ),
  'hostname-override': flag(string, '', "The node's name. Without it the host name is."),
  'cluster-cidr': flag(
    string,
    '',
    'Range of the pods of the cluster, or a range of each IP family, separated by a comma. With --detect-local-mode ClusterCIDR, what comes from there is local.',
  ),
  'detect-local-mode': flag(
    word('LocalMode'),
    '',
    'How local traffic is told: ClusterCIDR (default), NodeCIDR, BridgeInterface or InterfaceNamePrefix.',
  ),
  'pod-bridge-interface': flag(
    string,
    '',
    'With --detect-local-mode BridgeInterface, what comes through this bridge is local.',
  ),
  'pod-interface-name-prefix': flag(
    string,
    '',
    'With --detect-local-mode InterfaceNamePrefix, what comes through an interface whose name begins so is local.',
  ),
  'nodeport-addresses': flag(
    stringSlice,
    NONE,
    "Ranges of the node's addresses that accept node ports, or the word primary for those that the Node names. Without it all do; in nftables mode the primary ones.",
  ),
};
