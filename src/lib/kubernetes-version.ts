/** Pointsman behaves as the kube-proxy of this Kubernetes version, and reports this version. */
export const KUBERNETES_VERSION = 'v1.37.0';
