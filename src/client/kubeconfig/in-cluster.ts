import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { ApiError } from '../api-error.ts';
import type { ClientConfig, Environment } from '../client-config.ts';
import type { ClientLog } from '../client-log.ts';
import { certificateCount } from '../credentials/pem.ts';
import { tokenProblem } from '../credentials/token.ts';
import { fileErrorText } from '../file-error-text.ts';
import { serverUrl } from '../server-url.ts';

export const SERVICE_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The configuration of a pod: its environment names the server, and files contain the token and the CA. */
export function inClusterConfig(env: Environment, folder: string, log: ClientLog): ClientConfig {
  const host = env.KUBERNETES_SERVICE_HOST ?? '';
  const port = env.KUBERNETES_SERVICE_PORT ?? '';
  if (host === '' || port === '') {
    const names = 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT';
    throw new ApiError('configuration', `unable to load in-cluster configuration, ${names} must be defined`);
  }
  const tokenFile = join(folder, 'token');
  const token = readToken(tokenFile);
  const authority = isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
  return {
    server: serverUrl(`https://${authority}`, 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT'),
    origin: 'the in-cluster configuration',
    tls: { ca: authorityFile(join(folder, 'ca.crt'), log), insecure: false },
    disableCompression: false,
    user: { token, tokenFile },
  };
}

/** Whether the pod's own configuration can replace a kubeconfig that names no server. */
export function isInCluster(env: Environment, folder: string): boolean {
  if (!env.KUBERNETES_SERVICE_HOST || !env.KUBERNETES_SERVICE_PORT) return false;
  try {
    readFileSync(join(folder, 'token'));
    return true;
  } catch {
    return false;
  }
}

function readToken(path: string): string {
  let token: string;
  try {
    token = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new ApiError('configuration', fileErrorText('open', path, error), { cause: error });
  }
  const problem = tokenProblem(token);
  if (problem !== undefined) throw new ApiError('configuration', `${path} ${problem}`);
  return token;
}

/** A missing CA is only logged. If the connection needs that CA, it fails with an error of its own. */
function authorityFile(path: string, log: ClientLog) {
  let problem = 'data does not contain any valid RSA or ECDSA certificates';
  try {
    if (certificateCount(readFileSync(path, 'utf8')) > 0) return { kind: 'file', path, field: 'ca.crt' } as const;
  } catch (error) {
    problem = fileErrorText('open', path, error);
  }
  log.error('client', `Expected to load root CA config from ${path}, but got err: ${problem}`);
  return undefined;
}
