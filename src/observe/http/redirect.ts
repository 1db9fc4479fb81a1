import { posix } from 'node:path';
import type { HttpAnswer, HttpRequest } from './answer.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

type Asked = Pick<HttpRequest, 'method' | 'rawPath' | 'rawQuery'>;

export function redirectAnswer(status: number, reason: string, location: string, method: string): HttpAnswer {
  // Only those who read pages get one.
  if (method !== 'GET' && method !== 'HEAD') return { status, headers: { Location: location }, body: '' };
  const href = location.replaceAll(/[&<>"']/g, character => ENTITIES[character] ?? character);
  const headers = { 'Content-Type': 'text/html; charset=utf-8', Location: location };
  return { status, headers, body: `<a href="${href}">${reason}</a>.\n\n` };
}

/** Sends who asks for `//a/../b` to `/b`; undefined if the path has nothing needless, or is the `*` that is no path. */
export function redirectToClean({ method, rawPath, rawQuery }: Asked): HttpAnswer | undefined {
  const clean = posix.normalize(rawPath.startsWith('/') ? rawPath : `/${rawPath}`);
  if (clean === rawPath || rawPath === '*') return undefined;
  const location = rawQuery === undefined ? clean : `${clean}?${rawQuery}`;
  return redirectAnswer(307, 'Temporary Redirect', location, method);
}
