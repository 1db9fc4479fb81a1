import { readFileSync } from 'node:fs';
import type { Environment } from '../client-config.ts';

/** The files in which Linux distributions keep the CAs that the machine trusts. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** The CAs that the machine trusts, in PEM. Undefined means the CAs that are built into Node. */
export function systemRoots(env: Environment): string | undefined {
  for (const path of env.SSL_CERT_FILE ? [env.SSL_CERT_FILE] : BUNDLES) {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      // Try the next file.
    }
  }
  return undefined;
}
