const VERSION = 'v1.36.4';
/** As long as a commit is, where upstream has one, so that filters of audit logs match. */
const COMMIT = 'pointsm';
/** Go's names where they differ from Node's. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' };

export function userAgent(arch: string = process.arch): string {
  return `kube-proxy/${VERSION} (linux/${ARCHITECTURES[arch] ?? arch}) kubernetes/${COMMIT}`;
}
