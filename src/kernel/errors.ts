import { errorText } from '../lib/error-text.ts';
import { netAdminAdvice } from './capabilities.ts';

/**
 * The codes of errors of the kernel layer. They are our own and stable.
 *
 * KERNEL_REFUSED      The kernel refused one object of a request. `object` names it if it is known.
 * KERNEL_STALE        Another program changed the ruleset after the batch was made. The kernel applied nothing.
 * KERNEL_OVERRUN      The kernel dropped messages (ENOBUFS). The outcome is unknown, so the caller must read again.
 * KERNEL_INTERRUPTED  Objects changed while the kernel listed them (NLM_F_DUMP_INTR). The caller must read again.
 * KERNEL_SOCKET       A socket operation or another system call failed.
 * KERNEL_PROTOCOL     The kernel's answer is missing or cannot be understood.
 * KERNEL_PROGRAM      A program (iptables-restore …) failed, is missing or took too long.
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
  /** The command that failed, in the words of the reference tool: `add chain ip kube-proxy services`. */
  readonly operation: string;
  /** The name of the errno: `EEXIST`. */
  readonly errno?: string | undefined;
  /** Our own explanation, if the kernel gave none: `the kernel sent no acknowledgement`. */
  readonly reason?: string | undefined;
  /** The kernel's text from the extended acknowledgement, or the last lines that a program wrote. */
  readonly kernelMessage?: string | undefined;
  /** The object that the kernel refused. */
  readonly object?: string | undefined;
  /** The path of the attribute that the kernel refused, if the kernel gave an offset. */
  readonly attribute?: string | undefined;
  /** What the operator can do about it. */
  readonly advice?: string | undefined;
}

export class KernelError extends Error {
  override readonly name = 'KernelError';
  readonly code: KernelErrorCode;
  readonly operation: string;
  readonly errno: string | undefined;
  readonly reason: string | undefined;
  readonly kernelMessage: string | undefined;
  readonly object: string | undefined;
  readonly attribute: string | undefined;
  readonly advice: string | undefined;

  constructor(code: KernelErrorCode, detail: KernelErrorDetail) {
    super(composeMessage(detail));
    this.code = code;
    this.operation = detail.operation;
    this.errno = detail.errno;
    this.reason = detail.reason;
    this.kernelMessage = detail.kernelMessage;
    this.object = detail.object;
    this.attribute = detail.attribute;
    this.advice = detail.advice;
  }
}

/** What the kernel answers if it lacks a subsystem, because a module is not loaded. */
const LACKING: ReadonlySet<string> = new Set(['ENOENT', 'EINVAL', 'EOPNOTSUPP', 'EPROTONOSUPPORT', 'EAFNOSUPPORT']);

/** Adds how to load the module, if the error may mean that the kernel lacks it. */
export function withModuleAdvice(error: unknown, module: string): unknown {
  if (!(error instanceof KernelError) || !LACKING.has(error.errno ?? '')) return error;
  const { code, operation, errno, reason, kernelMessage, object, attribute } = error;
  const advice = `run modprobe ${module} on the node`;
  return new KernelError(code, { operation, errno, reason, kernelMessage, object, attribute, advice });
}

const NOT_WRITABLE: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);

/** The text of an error at the start, with what the operator can do if the process may not write a kernel setting. */
export function settingErrorText(error: unknown): string {
  const text = errorText(error);
  if (!(error instanceof KernelError) || !NOT_WRITABLE.has(error.errno ?? '')) return text;
  return `${text}; run kube-proxy --init-only in a privileged init container first, or set it on the node`;
}

function composeMessage(detail: KernelErrorDetail): string {
  const { operation, errno, reason, kernelMessage, object, attribute } = detail;
  const advice = detail.advice ?? (errno === 'EPERM' ? netAdminAdvice() : undefined);
  const cause = [errno, reason, kernelMessage].filter(Boolean).join(': ') || 'failed';
  const parts = [object !== operation && object, attribute && `attribute ${attribute}`];
  const place = parts.filter(Boolean).join(', ');
  return `${operation}: ${cause}${place ? ` (${place})` : ''}${advice ? `; ${advice}` : ''}`;
}
