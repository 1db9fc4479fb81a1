import { errorText } from '../lib/error-text.ts';
import { KernelError } from './errors.ts';

/** The error of a file of the kernel's that could not be read or written. */
export function fileError(operation: string, thrown: unknown): KernelError {
  const errno = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined;
  // Node's text begins with the errno, which the error has of its own.
  const text = errorText(thrown);
  const kernelMessage = errno && text.startsWith(`${errno}: `) ? text.slice(errno.length + 2) : text;
  return new KernelError('KERNEL_SOCKET', { operation, errno, kernelMessage });
}
