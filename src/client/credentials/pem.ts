import { createPrivateKey, X509Certificate } from 'node:crypto';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** How many certificates of a bundle can be read. */
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

/** What is wrong with a certificate and its key; undefined if they can be used. */
export function pairProblem(certificate: string, key: string): string | undefined {
  const [leaf] = certificate.match(CERTIFICATE) ?? [];
  if (leaf === undefined || !isCertificate(leaf)) return 'the certificate is not a PEM certificate';
  try {
    const belongs = new X509Certificate(leaf).checkPrivateKey(createPrivateKey(key));
    return belongs ? undefined : 'the key does not belong to the certificate';
  } catch {
    return 'the key is not a PEM private key, or it has a password';
  }
}
