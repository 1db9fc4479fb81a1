import { readFileSync } from 'node:fs';
import type { Environment } from '../kubeconfig/in-cluster.ts';

/** Where distributions keep the CAs that a machine trusts. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** The machine's CAs; undefined leaves those that Node brings along. */
export function systemRoots(env: Environment): string | undefined {
  for (const path of env.SSL_CERT_FILE ? [env.SSL_CERT_FILE] : BUNDLES) {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      // The next one.
    }
  }
  return undefined;
}
