import { posix } from 'node:path';
import type { HttpAnswer, HttpRequest } from './answer.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

/** Only the answers to GET and HEAD have a page, as Go's have. */
export function redirectAnswer(status: number, reason: string, location: string, method: string): HttpAnswer {
  if (method !== 'GET' && method !== 'HEAD') return { status, headers: { Location: location }, body: '' };
  const href = location.replaceAll(/[&<>"']/g, character => ENTITIES[character] ?? character);
  const headers = { 'Content-Type': 'text/html; charset=utf-8', Location: location };
  return { status, headers, body: `<a href="${href}">${reason}</a>.\n\n` };
}

/** Redirects `//a/../b` to `/b`. Undefined if the path is clean, or is the `*` of an OPTIONS request. */
export function redirectToCleanPath({
  method,
  rawPath,
  rawQuery,
}: Pick<HttpRequest, 'method' | 'rawPath' | 'rawQuery'>): HttpAnswer | undefined {
  const clean = posix.normalize(rawPath.startsWith('/') ? rawPath : `/${rawPath}`);
  if (clean === rawPath || rawPath === '*') return undefined;
  const location = rawQuery === undefined ? clean : `${clean}?${rawQuery}`;
  return redirectAnswer(307, 'Temporary Redirect', location, method);
}
