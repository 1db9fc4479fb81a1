import { readFileSync } from 'node:fs';

const CAP_NET_ADMIN = 12n;

/** What the operator can do if this process may not change the kernel's network; undefined if it may. */
export function netAdminAdvice(status: () => string = ownStatus): string | undefined {
  return hasNetAdmin(status) ? undefined : 'run kube-proxy as root or with CAP_NET_ADMIN';
}

/** True also if the capabilities cannot be read: then nothing is known about them. */
function hasNetAdmin(status: () => string): boolean {
  try {
    const [, mask] = /^CapEff:\s*([0-9a-f]+)$/m.exec(status()) ?? [];
    return mask === undefined || ((BigInt(`0x${mask}`) >> CAP_NET_ADMIN) & 1n) === 1n;
  } catch {
    return true;
  }
}

function ownStatus(): string {
  return readFileSync('/proc/self/status', 'utf8');
}
