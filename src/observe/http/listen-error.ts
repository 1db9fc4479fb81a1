import { errorCode } from '../../lib/error-code.ts';
import { errorText } from '../../lib/error-text.ts';
import { joinHostPort } from '../../net/index.ts';
import type { ListenAddress } from './listen.ts';

const ERRNO_TEXTS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'address already in use',
  EADDRNOTAVAIL: 'cannot assign requested address',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EINVAL: 'invalid argument',
};

const NETWORKS = { IPv4: 'tcp4', IPv6: 'tcp6' } as const;

/** An address that cannot be listened on, in the words that people know from upstream's log and Events. */
export class ListenError extends Error {
  /** The kernel's, or empty. */
  readonly code: string;

  constructor({ ip, port, family }: ListenAddress, cause: unknown) {
    const code = errorCode(cause) ?? '';
    const network = family ? NETWORKS[family] : 'tcp';
    const why = code in ERRNO_TEXTS ? `bind: ${ERRNO_TEXTS[code]}` : errorText(cause);
    super(`listen ${network} ${joinHostPort(ip, port)}: ${why}`, { cause });
    this.code = code;
  }

  /** The same failure of an address that stands for the one that was tried. */
  at(address: ListenAddress): ListenError {
    return new ListenError(address, this.cause);
  }
}
