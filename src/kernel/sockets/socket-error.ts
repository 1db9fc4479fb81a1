import { errorCode } from '../../lib/error-code.ts';
import { KernelError } from '../errors.ts';

/** Turns an error of Node's sockets into a KernelError. */
export function socketError(operation: string, error: unknown): KernelError {
  const errno = errorCode(error);
  const reason = errno === undefined && error instanceof Error ? error.message : undefined;
  return new KernelError('KERNEL_SOCKET', { operation, errno, reason });
}
