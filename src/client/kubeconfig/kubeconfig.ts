import { readFileSync, statSync } from 'node:fs';
import { ApiError } from '../api-error.ts';
import { ANONYMOUS, type ClientConfig } from '../client-config.ts';
import { fileErrorText } from '../file-error-text.ts';
import { serverUrl } from '../server-url.ts';
import { checkedProxyUrl } from '../transport/http-proxy.ts';
import { bool, child, type Field, fail, list, named, names, object, pem, text } from './field.ts';
import { parseKubeconfig } from './load-document.ts';
import { userConfig } from './user.ts';

const MOST_BYTES = 4 << 20;
/** Where a cluster's entry has what a credential plugin is told besides. */
const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';

/** The cluster and the user of the current context. Undefined if the file says nothing of a server, and `master` neither. */
export function readKubeconfig(file: string, master: string): ClientConfig | undefined {
  const root = object({ file, path: '', value: parseKubeconfig(file, read(file)) });
  checkKind(root);
  const context = currentContext(root);
  const cluster = context && clusterOf(root, context, master);
  if (!cluster && master === '') return undefined;
  return clientConfig(root, context, object(cluster ?? { file, path: 'clusters', value: {} }), master);
}

function clientConfig(root: Field, context: Field | undefined, cluster: Field, master: string): ClientConfig {
  const { file } = root;
  const named = text(cluster, 'server');
  if (named === '' && master === '') fail(child(cluster, 'server'), 'is missing: write the address of the API server');
  const server =
    master === '' ? serverUrl(named, `kubeconfig ${file}: ${cluster.path}.server`) : serverUrl(master, '--master');
  const proxyUrl = text(cluster, 'proxy-url') || undefined;
  if (proxyUrl !== undefined) checkedProxyUrl(proxyUrl, `kubeconfig ${file}: ${cluster.path}.proxy-url`);
  const tls = {
    ca: pem(cluster, 'certificate-authority'),
    insecure: bool(cluster, 'insecure-skip-tls-verify'),
    // The name is that of the kubeconfig's server, not of another.
    serverName: (master === '' && text(cluster, 'tls-server-name')) || undefined,
  };
  if (tls.ca && tls.insecure) {
    fail(child(cluster, 'insecure-skip-tls-verify'), 'cannot be true when there is a certificate-authority too');
  }
  const config = {
    server,
    origin: `the kubeconfig ${file}`,
    tls,
    proxyUrl,
    disableCompression: bool(cluster, 'disable-compression'),
    user: ANONYMOUS,
  };
  const extension = execExtension(cluster);
  // Credentials are not sent in the open.
  const user = context && server.protocol === 'https:' ? userConfig(root, context, { config, extension }) : ANONYMOUS;
  return { ...config, user };
}

function currentContext(root: Field): Field | undefined {
  const name = text(root, 'current-context');
  if (name === '') return undefined;
  const entry = named(root, 'contexts', name);
  if (entry) return object(child(entry, 'context'));
  return fail(
    child(root, 'current-context'),
    `context was not found for specified context: ${name} (see contexts: ${names(root, 'contexts')})`,
  );
}

/** With a server from elsewhere there need not be one, as for client-go. */
function clusterOf(root: Field, context: Field, master: string): Field | undefined {
  const name = text(context, 'cluster');
  if (name === '') return undefined;
  const entry = named(root, 'clusters', name);
  if (entry) return child(entry, 'cluster');
  if (master !== '') return undefined;
  return fail(child(context, 'cluster'), `there is no cluster ${name} (see clusters: ${names(root, 'clusters')})`);
}

function execExtension(cluster: Field): unknown {
  const entry = list(cluster, 'extensions').find(field => text(object(field), 'name') === EXEC_EXTENSION);
  return entry ? child(entry, 'extension').value : undefined;
}

function checkKind(root: Field): void {
  const apiVersion = text(root, 'apiVersion');
  const kind = text(root, 'kind');
  if (apiVersion !== '' && apiVersion !== 'v1') fail(child(root, 'apiVersion'), `must be v1, not ${apiVersion}`);
  if (kind !== '' && kind !== 'Config') fail(child(root, 'kind'), `must be Config, not ${kind}`);
}

function read(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > MOST_BYTES)
      throw new ApiError('configuration', `kubeconfig ${file}: is ${size} bytes long, no kubeconfig is`);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError('configuration', fileErrorText('stat', file, error), { cause: error });
  }
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const text = `error loading config file "${file}": ${fileErrorText('open', file, error)}`;
    throw new ApiError('configuration', text, { cause: error });
  }
}
