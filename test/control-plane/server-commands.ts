import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { NODE_IP } from '../support/namespaces.ts';
import { tokenFile } from './users.ts';

export const ETCD_PORT = 2379;
export const APISERVER_PORT = 6443;

/** The time until a server must answer. */
export const READY_MS = 50_000;
export const READY_POLL_MS = 100;

/** The command line of a server that keeps its files in `folder`. */
export function etcdCommand(folder: string): string[] {
  const client = `http://127.0.0.1:${ETCD_PORT}`;
  return [
    programFrom('ETCD'),
    `--data-dir=${folder}/etcd`,
    // The data need not survive a power failure.
    '--unsafe-no-fsync',
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    '--listen-peer-urls=http://127.0.0.1:2380',
    '--log-level=warn',
  ];
}

/** Writes the files that the API server reads, too. The server makes its own certificate at its first start. */
export function apiserverCommand(folder: string, more: readonly string[]): string[] {
  const tokens = `${folder}/tokens.csv`;
  writeFileSync(tokens, tokenFile());
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = `${folder}/service-accounts.key`;
  writeFileSync(key, privateKey.export({ type: 'sec1', format: 'pem' }));
  return [
    programFrom('KUBE_APISERVER'),
    `--etcd-servers=http://127.0.0.1:${ETCD_PORT}`,
    `--cert-dir=${folder}/certificates`,
    `--secure-port=${APISERVER_PORT}`,
    // The server listens on all addresses, so that other namespaces and the Service kubernetes reach it. Its
    // certificate is then valid for the advertised address and for localhost, but not for 127.0.0.1.
    '--bind-address=0.0.0.0',
    `--advertise-address=${NODE_IP}`,
    '--service-cluster-ip-range=10.96.0.0/12,fd00:10:96::/108',
    '--authorization-mode=RBAC',
    `--token-auth-file=${tokens}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${key}`,
    `--service-account-signing-key-file=${key}`,
    // With this flag the server ends watches at once on SIGTERM. Without it, watches stay for a minute.
    '--shutdown-watch-termination-grace-period=1s',
    ...more,
  ];
}

function programFrom(variable: 'ETCD' | 'KUBE_APISERVER'): string {
  const path = process.env[variable];
  if (!path) throw new Error(`${variable} is not set. npm run test:cluster sets it`);
  return path;
}
