import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { rememberSecret } from '../lib/secrets.ts';

/** Nobody guesses a random token of this length. */
const MIN_TOKEN_LENGTH = 16;
/** The API server's proxy removes the Authorization header. */
export const TOKEN_HEADER = 'Pointsman-Token';

/** Only the hash of the token is kept. Two hashes have the same length, so comparing them takes always the same time. */
export interface PageToken {
  readonly hash: Buffer;
}

/** Reads the text of a token file. Throws an Error that says what is wrong. */
export function parseToken(path: string, text: string): PageToken {
  const token = text.trim();
  rememberSecret(token);
  if (!/^[\x21-\x7e]*$/.test(token)) {
    throw new Error(`${path} must have one token of printable characters without blanks`);
  }
  if (token.length < MIN_TOKEN_LENGTH) {
    throw new Error(
      `the token in ${path} has ${token.length} characters, and needs ${MIN_TOKEN_LENGTH} or more: make one with openssl rand -hex 24`,
    );
  }
  return { hash: hashOf(token) };
}

/** The token of a request, in one of two headers. */
export function tokenIn(headers: IncomingHttpHeaders): string | undefined {
  const own = headers[TOKEN_HEADER.toLowerCase()];
  if (typeof own === 'string') return own;
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
}

export function isToken({ hash }: PageToken, given: string): boolean {
  return timingSafeEqual(hash, hashOf(given));
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
