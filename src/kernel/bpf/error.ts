import { type Capability, capabilityAdvice, hasSystemCallFilter } from '../capabilities.ts';
import { KernelError } from '../errors.ts';

export interface BpfErrorDetail {
  readonly kernelMessage?: string | undefined;
  /** What the operator can do, if the caller knows more than the errno says. */
  readonly advice?: string | undefined;
  /** What the process needs. The default is enough for everything but iterators and objects of others. */
  readonly capabilities?: readonly Capability[] | undefined;
}

/** An error of bpf(2), with what the operator can do about it. `what` names the map, the program or the path. */
export function bpfError(command: string, what: string, errno: string, detail: BpfErrorDetail = {}): KernelError {
  const { kernelMessage, capabilities, advice = bpfAdvice(command, errno, { capabilities }) } = detail;
  return new KernelError('KERNEL_REFUSED', { operation: `bpf ${command} ${what}`, errno, kernelMessage, advice });
}

interface Circumstances {
  readonly capabilities?: readonly Capability[] | undefined;
  /** The content of `/proc/self/status`. */
  readonly status?: (() => string) | undefined;
  readonly hasCallNumber?: boolean;
}

/** The system call's number is known for these processors only. */
export const CALL_NUMBERS: Readonly<Partial<Record<string, number>>> = { x64: 321, arm64: 280 };

export function bpfAdvice(
  command: string,
  errno: string,
  {
    capabilities = ['CAP_BPF', 'CAP_NET_ADMIN'],
    status,
    hasCallNumber = process.arch in CALL_NUMBERS,
  }: Circumstances = {},
): string | undefined {
  switch (errno) {
    case 'EPERM':
      return capabilityAdvice(capabilities, status) ?? refusalAdvice(command, status);
    case 'ENOSYS':
      return hasCallNumber
        ? `${hasSystemCallFilter(status) ? `${OTHER_PROFILE}, or ` : ''}use a kernel that is built with CONFIG_BPF_SYSCALL`
        : `use a machine with one of these processors: ${Object.keys(CALL_NUMBERS).join(', ')}`;
    case 'ENOMEM':
      return "raise the container's memory limit, because BPF maps count as its memory";
    default:
      return undefined;
  }
}

const OTHER_PROFILE =
  'use a seccomp profile that allows bpf() for CAP_BPF: that of a newer container runtime, or Unconfined';

/** A process with all capabilities cannot make a map. That needs nothing else, and is what a program calls first. */
function refusalAdvice(command: string, status: (() => string) | undefined): string | undefined {
  if (command !== 'MAP_CREATE') return undefined;
  if (hasSystemCallFilter(status)) return OTHER_PROFILE;
  return 'run kube-proxy outside of user namespaces, and let the security modules of the machine allow bpf()';
}
