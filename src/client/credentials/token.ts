import { rememberSecret } from '../../lib/secrets.ts';

/**
 * Why a token cannot be sent. The text does not contain the token. Without this check, Node's error would say only that
 * the protocol was violated.
 */
export function tokenProblem(token: string): string | undefined {
  if (/[\r\n]/.test(token)) {
    return 'contains a line break, which an HTTP header cannot carry: write the token on one line';
  }
  // A tab is the only control character that a header may contain.
  if (!/[^\P{Cc}\t]/u.test(token)) return undefined;
  return 'contains a control character, which an HTTP header cannot carry: write the token as plain text';
}

/** The Authorization header for a token. Like Go, it sends the UTF-8 bytes of characters that are not ASCII. */
export function bearer(token: string): string {
  rememberSecret(token);
  return `Bearer ${Buffer.from(token).toString('latin1')}`;
}

/** The header for a name and a password. */
export function basicAuthorization(username: string, password: string): string {
  const pair = Buffer.from(`${username}:${password}`).toString('base64');
  rememberSecret(password);
  rememberSecret(pair);
  return `Basic ${pair}`;
}
