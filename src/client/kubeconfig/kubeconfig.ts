import { ANONYMOUS, type ClientConfig } from '../client-config.ts';
import { serverUrl } from '../server-url.ts';
import { checkedProxyUrl } from '../transport/http-proxy.ts';
import { bool, child, type Field, fail, list, named, object, pem, presentNames, text } from './field.ts';
import { loadDocument } from './load-document.ts';
import { userConfig } from './user.ts';

/** The extension of a cluster entry that holds extra configuration for a credential plugin. */
const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';

/**
 * The cluster and the user of the context; without a name, of the current context. Undefined if neither the file nor
 * `master` names a server.
 */
export function readKubeconfig(file: string, master: string, contextName = ''): ClientConfig | undefined {
  const root = object({ file, path: '', value: loadDocument(file) });
  checkKind(root);
  const context = contextNamed(root, contextName);
  const cluster = context && clusterOf(root, context, master);
  if (!cluster && master === '') return undefined;
  return clientConfig(root, context, object(cluster ?? { file, path: 'clusters', value: {} }), master);
}

function clientConfig(root: Field, context: Field | undefined, cluster: Field, master: string): ClientConfig {
  const { file } = root;
  const address = text(cluster, 'server');
  if (address === '' && master === '') {
    fail(child(cluster, 'server'), 'is missing: write the address of the API server');
  }
  const server =
    master === '' ? serverUrl(address, `kubeconfig ${file}: ${cluster.path}.server`) : serverUrl(master, '--master');
  const proxyUrl = text(cluster, 'proxy-url') || undefined;
  if (proxyUrl !== undefined) checkedProxyUrl(proxyUrl, `kubeconfig ${file}: ${cluster.path}.proxy-url`);
  const tls = {
    ca: pem(cluster, 'certificate-authority'),
    insecure: bool(cluster, 'insecure-skip-tls-verify'),
    // The name belongs to the server of the kubeconfig, not to the server of --master.
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
  // The client never sends credentials without encryption.
  const user = context && server.protocol === 'https:' ? userConfig(root, context, { config, extension }) : ANONYMOUS;
  return { ...config, user };
}

function contextNamed(root: Field, wanted: string): Field | undefined {
  const name = wanted || text(root, 'current-context');
  if (name === '') return undefined;
  const entry = named(root, 'contexts', name);
  if (entry) return object(child(entry, 'context'));
  if (wanted !== '') fail(child(root, 'contexts'), `there is no context ${name} (${presentNames(root, 'contexts')})`);
  return fail(
    child(root, 'current-context'),
    `context was not found for specified context: ${name} (${presentNames(root, 'contexts')})`,
  );
}

/** As in client-go, the cluster of the context need not exist if `--master` names the server. */
function clusterOf(root: Field, context: Field, master: string): Field | undefined {
  const name = text(context, 'cluster');
  if (name === '') return undefined;
  const entry = named(root, 'clusters', name);
  if (entry) return child(entry, 'cluster');
  if (master !== '') return undefined;
  return fail(child(context, 'cluster'), `there is no cluster ${name} (${presentNames(root, 'clusters')})`);
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
