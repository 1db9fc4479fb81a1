import { errorCode } from '../../lib/error-code.ts';
import { errorText } from '../../lib/error-text.ts';
import { ApiError } from '../api-error.ts';
import { type ClientConfig, pemName } from '../client-config.ts';
import { addressOf, hostName } from '../server-url.ts';

/** The codes of OpenSSL for a certificate that none of the CAs has signed. */
const UNKNOWN_AUTHORITY = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'INVALID_CA',
]);

const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection: check that it runs, and its address',
  EHOSTUNREACH: 'cannot be reached: there is no route to it',
  ENETUNREACH: 'cannot be reached: there is no route to its network',
  ETIMEDOUT: 'did not answer: check the network and its address',
  ENOTFOUND: 'cannot be found: its name has no address',
  // Node gives this code also if the server closes the connection during the TLS handshake.
  ECONNRESET: 'closed the connection before TLS was ready: check its address and any HTTP proxy in front of it',
  EAI_AGAIN: 'cannot be found: the name servers do not answer',
};

/** The server or HTTP proxy at the other end, for messages. */
interface Peer {
  /** `the API server 10.0.0.1:6443` */
  readonly title: string;
  /** The name that its certificate must contain. */
  readonly name: string;
  /** The CA that must have signed its certificate. */
  readonly authority: string;
}

/** Why there is no connection to the API server, or to the HTTP proxy in front of it, and what to do. */
export function connectError(error: unknown, config: ClientConfig, proxy?: URL): ApiError {
  if (error instanceof ApiError) return error;
  const peer = proxy ? proxyPeer(proxy) : serverPeer(config);
  const code = errorCode(error) ?? '';
  const detail = { address: addressOf(config.server), cause: error };
  const unreachable = UNREACHABLE[code];
  if (unreachable !== undefined) return new ApiError('unreachable', `${peer.title} ${unreachable} (${code})`, detail);
  const tls = tlsText(code, error, peer);
  if (tls !== undefined) return new ApiError('tls', tls, detail);
  return new ApiError('unreachable', `no connection to ${peer.title}: ${errorText(error)}`, detail);
}

function serverPeer({ server, tls, origin }: ClientConfig): Peer {
  const { ca } = tls;
  const authority = ca
    ? `the CA that ${origin} names (${pemName(ca)}): check that it is this cluster's CA`
    : `a CA that this machine trusts, and ${origin} names none: name the cluster's CA`;
  return { title: `the API server ${addressOf(server)}`, name: tls.serverName ?? hostName(server), authority };
}

function proxyPeer(proxy: URL): Peer {
  return {
    title: `the HTTP proxy ${addressOf(proxy)}`,
    name: hostName(proxy),
    authority: 'a CA that this machine trusts',
  };
}

function tlsText(code: string, error: unknown, { title, name, authority }: Peer): string | undefined {
  if (UNKNOWN_AUTHORITY.has(code)) return `the certificate of ${title} is not signed by ${authority} (${code})`;
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return `the certificate of ${title} has expired: renew it (or set this machine's clock)`;
    case 'CERT_NOT_YET_VALID':
      return `the certificate of ${title} is not valid yet: set this machine's clock`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `the certificate of ${title} is for ${namesOf(error)}, not for ${name}: check the address, or set tls-server-name`;
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return `${title} does not speak TLS: check the address, or write http:// if the server has no TLS: ${reason(error)}`;
    default:
      return /^ERR_(SSL|TLS|OSSL)_|^CERT_/.test(code) ? `TLS with ${title} failed: ${reason(error)}` : undefined;
  }
}

function namesOf(error: unknown): string {
  const names = error instanceof Error && 'cert' in error ? alternativeNames(error.cert) : '';
  return names || 'no name';
}

function alternativeNames(certificate: unknown): string {
  if (typeof certificate !== 'object' || certificate === null || !('subjectaltname' in certificate)) return '';
  return String(certificate.subjectaltname ?? '');
}

/** The message of OpenSSL, without the numbers in front of it. */
function reason(error: unknown): string {
  return error instanceof Error && 'reason' in error ? String(error.reason) : errorText(error).trim();
}
