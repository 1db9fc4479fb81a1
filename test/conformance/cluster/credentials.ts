import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { API_SERVER, CONTROL_PLANE, NODES } from './addresses.ts';
import { run } from './run.ts';

interface User {
  /** The name of the kubeconfig file, without its end. */
  readonly file: string;
  readonly name: string;
  readonly group?: string;
}

const USERS: readonly User[] = [
  { file: 'admin', name: 'admin', group: 'system:masters' },
  { file: 'controller-manager', name: 'system:kube-controller-manager' },
  { file: 'scheduler', name: 'system:kube-scheduler' },
  { file: 'kube-proxy', name: 'system:kube-proxy' },
  ...NODES.map(({ name }) => ({ file: name, name: `system:node:${name}`, group: 'system:nodes' })),
];

const NAMES = [
  ...['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'localhost'].map(name => `DNS:${name}`),
  ...['127.0.0.1', CONTROL_PLANE.v4, '10.96.0.1', 'fd00:10:96::1'].map(ip => `IP:${ip}`),
];

/** Writes into the folder: ca.crt, ca.key, tls.crt, tls.key, service-accounts.key, tokens.csv, and USER.conf. */
export function writeCredentials(folder: string): void {
  const openssl = (...args: readonly string[]) => run('openssl', args, { cwd: folder });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const authority = ['-subj', '/CN=conformance', '-keyout', 'ca.key', '-out', 'ca.crt', '-days', '7'];
  openssl('req', '-x509', ...newKey, ...authority);
  openssl('req', ...newKey, '-subj', '/CN=kube-apiserver', '-keyout', 'tls.key', '-out', 'tls.csr');
  writeFileSync(`${folder}/tls.ext`, `subjectAltName=${NAMES.join(',')}\n`);
  const signing = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '7', '-extfile', 'tls.ext'];
  openssl('x509', '-req', '-in', 'tls.csr', ...signing, '-out', 'tls.crt');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(`${folder}/service-accounts.key`, privateKey.export({ type: 'sec1', format: 'pem' }));
  const authorityData = readFileSync(`${folder}/ca.crt`).toString('base64');
  const lines = USERS.map(({ file, name, group = '' }) => {
    const token = randomBytes(16).toString('hex');
    writeFileSync(`${folder}/${file}.conf`, kubeconfigText(token, authorityData));
    return `${token},${name},${name},"${group}"\n`;
  });
  writeFileSync(`${folder}/tokens.csv`, lines.join(''));
}

/** A kubeconfig as JSON, which is also YAML. */
function kubeconfigText(token: string, authorityData: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'default', cluster: { server: API_SERVER, 'certificate-authority-data': authorityData } }],
    users: [{ name: 'default', user: { token } }],
    contexts: [{ name: 'default', context: { cluster: 'default', user: 'default' } }],
    'current-context': 'default',
  });
}
