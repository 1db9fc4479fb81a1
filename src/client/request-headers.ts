import { KUBERNETES_VERSION } from '../lib/kubernetes-version.ts';
import type { Impersonation } from './client-config.ts';

/** Stands for upstream's commit, and has the same length, so that filters of audit logs match. */
const COMMIT = 'pointsm';
/** The architectures whose name in Go differs from the name in Node. */
const GO_ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' };

/** The User-Agent header, in the form of upstream. */
export function userAgent(arch: string = process.arch): string {
  return `kube-proxy/${KUBERNETES_VERSION} (linux/${GO_ARCHITECTURES[arch] ?? arch}) kubernetes/${COMMIT}`;
}

/** The headers of a request that acts as another user. */
export function impersonationHeaders(as: Impersonation | undefined): Record<string, string | readonly string[]> {
  if (!as) return {};
  const headers: Record<string, string | readonly string[]> = { 'impersonate-user': as.user };
  if (as.uid !== undefined) headers['impersonate-uid'] = as.uid;
  if (as.groups.length > 0) headers['impersonate-group'] = as.groups;
  for (const [key, values] of as.extra) headers[`impersonate-extra-${encodeURIComponent(key).toLowerCase()}`] = values;
  return headers;
}
