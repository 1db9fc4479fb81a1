import { createPrivateKey, X509Certificate } from 'node:crypto';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** The certificates of a bundle that can be read. */
export function certificateCount(pem: string): number {
  return (pem.match(CERTIFICATE) ?? []).filter(isCertificate).length;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

/** What is wrong with a certificate and its key, if something is. */
export function pairProblem(certificate: string, key: string): string | undefined {
  const [leaf] = certificate.match(CERTIFICATE) ?? [];
  if (leaf === undefined || !isCertificate(leaf)) return 'the certificate is no PEM certificate';
  try {
    const same = new X509Certificate(leaf).checkPrivateKey(createPrivateKey(key));
    return same ? undefined : 'the key is not that of the certificate';
  } catch {
    return 'the key is no PEM private key without a password';
  }
}
