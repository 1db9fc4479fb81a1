import { ApiError } from '../api-error.ts';
import { ANONYMOUS, type ClientConfig } from '../client-config.ts';
import type { ClientLog } from '../client-log.ts';
import { serverUrl } from '../server-url.ts';
import { type Environment, inClusterConfig, isInCluster } from './in-cluster.ts';
import { readKubeconfig } from './kubeconfig.ts';

export interface ConfigSources {
  /** A file, or empty. */
  readonly kubeconfig: string;
  /** The server's address, before that of the kubeconfig, or empty. */
  readonly master: string;
  readonly env: Environment;
  readonly serviceAccountFolder: string;
  readonly log: ClientLog;
}

/** Which of kubeconfig, `--master` and the pod's environment counts. */
export function resolveConfig({ kubeconfig, master, env, serviceAccountFolder, log }: ConfigSources): ClientConfig {
  if (kubeconfig === '' && master === '') {
    log.info('Neither kubeconfig file nor master URL was specified, falling back to in-cluster config');
    return inClusterConfig(env, serviceAccountFolder, log);
  }
  const config = kubeconfig === '' ? masterOnly(master) : readKubeconfig(kubeconfig, master);
  if (config) return config;
  if (isInCluster(env, serviceAccountFolder)) return inClusterConfig(env, serviceAccountFolder, log);
  const words = 'no configuration has been provided, try setting KUBERNETES_MASTER environment variable';
  throw new ApiError('configuration', `invalid configuration: ${words}`);
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
