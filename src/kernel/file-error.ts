import { errorCode } from '../lib/error-code.ts';
import { errorText } from '../lib/error-text.ts';
import { KernelError } from './errors.ts';

/** The error for a file under `/proc` or `/sys` that could not be read or written. */
export function fileError(operation: string, thrown: unknown): KernelError {
  const errno = errorCode(thrown);
  // Node's text begins with the errno. KernelError adds the errno to its message itself.
  const text = errorText(thrown);
  const kernelMessage = errno && text.startsWith(`${errno}: `) ? text.slice(errno.length + 2) : text;
  // The right to write a file has nothing to do with CAP_NET_ADMIN.
  return new KernelError('KERNEL_SOCKET', { operation, errno, kernelMessage, advice: '' });
}
