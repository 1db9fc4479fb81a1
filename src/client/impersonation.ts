import type { Impersonation } from './client-config.ts';

/** The headers by which a request is made in the name of somebody else. */
export function impersonationHeaders(as: Impersonation | undefined): Record<string, string | readonly string[]> {
  if (!as) return {};
  const headers: Record<string, string | readonly string[]> = { 'impersonate-user': as.user };
  if (as.uid !== undefined) headers['impersonate-uid'] = as.uid;
  if (as.groups.length > 0) headers['impersonate-group'] = as.groups;
  for (const [key, values] of as.extra) headers[`impersonate-extra-${encodeURIComponent(key).toLowerCase()}`] = values;
  return headers;
}
