import manifest from '../../package.json' with { type: 'json' };

/** Our own version. */
export const VERSION: string = manifest.version;

/** The version of Kubernetes whose kube-proxy this one behaves as, and which it reports. */
export const KUBERNETES_VERSION = 'v1.36.4';
