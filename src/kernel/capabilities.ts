import { readFileSync } from 'node:fs';

/** Capabilities by their numbers in `linux/capability.h`. */
const CAPABILITIES = { CAP_NET_ADMIN: 12n, CAP_SYS_ADMIN: 21n, CAP_PERFMON: 38n, CAP_BPF: 39n } as const;
export type Capability = keyof typeof CAPABILITIES;

/** CAP_SYS_ADMIN stands for these, because it was the only one before Linux 5.8. */
const PARTS_OF_SYS_ADMIN: ReadonlySet<Capability> = new Set(['CAP_BPF', 'CAP_PERFMON']);

/** What the operator can do if this process may not change the kernel's network; undefined if it may. */
export function netAdminAdvice(status: () => string = ownStatus): string | undefined {
  return capabilityAdvice(['CAP_NET_ADMIN'], status);
}

/** What the operator can do if this process lacks one of these; undefined if it has them all. */
export function capabilityAdvice(wanted: readonly Capability[], status: () => string = ownStatus): string | undefined {
  const mask = effectiveCapabilities(status);
  // Nothing is known about a process whose capabilities cannot be read.
  if (mask === undefined || wanted.every(capability => has(mask, capability))) return undefined;
  return `run kube-proxy as root or with ${wanted.join(' and ')}`;
}

/** Whether a seccomp profile limits the system calls of this process. */
export function hasSystemCallFilter(status: () => string = ownStatus): boolean {
  try {
    return /^Seccomp:\s*2$/m.test(status());
  } catch {
    return false;
  }
}

function has(mask: bigint, capability: Capability): boolean {
  if (((mask >> CAPABILITIES[capability]) & 1n) === 1n) return true;
  return PARTS_OF_SYS_ADMIN.has(capability) && has(mask, 'CAP_SYS_ADMIN');
}

function effectiveCapabilities(status: () => string): bigint | undefined {
  try {
    const [, mask] = /^CapEff:\s*([0-9a-f]+)$/m.exec(status()) ?? [];
    return mask === undefined ? undefined : BigInt(`0x${mask}`);
  } catch {
    return undefined;
  }
}

function ownStatus(): string {
  return readFileSync('/proc/self/status', 'utf8');
}
