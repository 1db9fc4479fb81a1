/**
 * Errors of the kernel layer. The code is stable and ours; `errno` and `kernelMessage` are the kernel's own words.
 *
 * KERNEL_REFUSED      the kernel said no to one object of a request; `object` names it where it is known
 * KERNEL_STALE        the ruleset moved since the generation the batch was made for; nothing was applied
 * KERNEL_OVERRUN      messages were lost (ENOBUFS): the outcome is unknown and must be read again
 * KERNEL_INTERRUPTED  a dump changed while it was read (NLM_F_DUMP_INTR): read again
 * KERNEL_SOCKET       a socket or another system call failed
 * KERNEL_PROTOCOL     the answer could not be understood
 * KERNEL_PROGRAM      a program (iptables-restore …) failed, is missing or took too long
 */
export type KernelErrorCode =
  | 'KERNEL_REFUSED'
  | 'KERNEL_STALE'
  | 'KERNEL_OVERRUN'
  | 'KERNEL_INTERRUPTED'
  | 'KERNEL_SOCKET'
  | 'KERNEL_PROTOCOL'
  | 'KERNEL_PROGRAM';

export interface KernelErrorDetail {
  /** What was tried, in the words of the reference tool: `add chain ip kube-proxy services`. */
  readonly operation: string;
  /** The errno's name, `EEXIST`. */
  readonly errno?: string | undefined;
  /** The text of the extended acknowledgement. */
  readonly kernelMessage?: string | undefined;
  /** Which object the kernel pointed at. */
  readonly object?: string | undefined;
  /** Which attribute of it, by path, where the kernel gave an offset. */
  readonly attribute?: string | undefined;
}

export class KernelError extends Error {
  override readonly name = 'KernelError';
  readonly code: KernelErrorCode;
  readonly operation: string;
  readonly errno: string | undefined;
  readonly kernelMessage: string | undefined;
  readonly object: string | undefined;
  readonly attribute: string | undefined;

  constructor(code: KernelErrorCode, detail: KernelErrorDetail) {
    super(describe(detail));
    this.code = code;
    this.operation = detail.operation;
    this.errno = detail.errno;
    this.kernelMessage = detail.kernelMessage;
    this.object = detail.object;
    this.attribute = detail.attribute;
  }
}

function describe({ operation, errno, kernelMessage, object, attribute }: KernelErrorDetail): string {
  const where = [object && object !== operation ? object : undefined, attribute && `attribute ${attribute}`];
  const what = [errno, kernelMessage].filter(Boolean).join(': ') || 'failed';
  const at = where.filter(Boolean).join(', ');
  return `${operation}: ${what}${at ? ` (${at})` : ''}`;
}
