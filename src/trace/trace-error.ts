import type { KernelError } from '../kernel/errors.ts';

/** Why no packets can be traced here, and what to do. */
export class TraceError extends Error {
  override readonly name = 'TraceError';

  static fromKernel(error: KernelError): TraceError {
    return new TraceError(textOf(error), { cause: error });
  }
}

function textOf({ errno, message }: KernelError): string {
  switch (errno) {
    case 'EPERM':
    case 'EACCES':
      return 'tracing packets needs the right CAP_NET_ADMIN in the network namespace of the node: run this as root on the node, or with kubectl exec in the pod of the proxy';
    case 'EINVAL':
    case 'EOPNOTSUPP':
      return `this kernel has no tables that end with their process (it needs Linux 5.12 or later), so a trace could leave rules behind and is refused. Use nft instead: "nft monitor trace". The kernel said: ${message}`;
    default:
      return message;
  }
}
