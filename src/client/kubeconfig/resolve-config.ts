import { ApiError } from '../api-error.ts';
import { ANONYMOUS, type ClientConfig, type Environment } from '../client-config.ts';
import type { ClientLog } from '../client-log.ts';
import { serverUrl } from '../server-url.ts';
import { inClusterConfig, isInCluster } from './in-cluster.ts';
import { readKubeconfig } from './kubeconfig.ts';

export interface ConfigSources {
  /** The path of a kubeconfig, or empty. */
  readonly kubeconfig: string;
  /** The context of the kubeconfig. The default is its current context. */
  readonly context?: string | undefined;
  /** The server's address, which replaces the one in the kubeconfig; or empty. */
  readonly master: string;
  readonly env: Environment;
  readonly serviceAccountFolder: string;
  readonly log: ClientLog;
}

/** Takes the configuration from the kubeconfig, from `--master`, or from the pod's environment. */
export function resolveConfig(sources: ConfigSources): ClientConfig {
  const { kubeconfig, context, master, env, serviceAccountFolder, log } = sources;
  if (kubeconfig === '' && master === '') {
    log.info('client', 'Neither kubeconfig file nor master URL was specified, falling back to in-cluster config');
    return inClusterConfig(env, serviceAccountFolder, log);
  }
  const config = kubeconfig === '' ? masterOnly(master) : readKubeconfig(kubeconfig, master, context);
  if (config) return config;
  if (isInCluster(env, serviceAccountFolder)) return inClusterConfig(env, serviceAccountFolder, log);
  const text = 'no configuration has been provided, try setting KUBERNETES_MASTER environment variable';
  throw new ApiError('configuration', `invalid configuration: ${text}`);
}

function masterOnly(master: string): ClientConfig {
  return {
    server: serverUrl(master, '--master'),
    origin: '--master',
    tls: { insecure: false },
    disableCompression: false,
    user: ANONYMOUS,
  };
}
