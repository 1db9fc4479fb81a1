import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { NODE_IP } from '../support/namespaces.ts';
import { tokenFile } from './users.ts';

export const ETCD_PORT = 2379;
export const APISERVER_PORT = 6443;

/** How long a server may take until it answers. */
export const READY_MS = 50_000;
export const READY_POLL_MS = 100;

/** The command line of a server that keeps its files in `folder`. */
export function etcdCommand(folder: string): string[] {
  const client = `http://127.0.0.1:${ETCD_PORT}`;
  return [
    programFrom('ETCD'),
    `--data-dir=${folder}/etcd`,
    // Nothing has to outlive a power failure.
    '--unsafe-no-fsync',
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    '--listen-peer-urls=http://127.0.0.1:2380',
    '--log-level=warn',
  ];
}

/** Writes the files that the API server reads, too. It makes its certificate itself, once. */
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
    // All addresses, so that it is there for other namespaces and behind the Service kubernetes. The certificate that it
    // makes then is for its advertised address and for localhost, not for 127.0.0.1.
    '--bind-address=0.0.0.0',
    `--advertise-address=${NODE_IP}`,
    '--service-cluster-ip-range=10.96.0.0/12,fd00:10:96::/108',
    '--authorization-mode=RBAC',
    `--token-auth-file=${tokens}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${key}`,
    `--service-account-signing-key-file=${key}`,
    // On SIGTERM it ends watches at once, and waits for them no longer. Without the flag they stay for a minute.
    '--shutdown-watch-termination-grace-period=1s',
    ...more,
  ];
}

function programFrom(variable: 'ETCD' | 'KUBE_APISERVER'): string {
  const path = process.env[variable];
  if (!path) throw new Error(`${variable} names no program; npm run test:cluster sets it`);
  return path;
}
