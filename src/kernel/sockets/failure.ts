import { KernelError } from '../errors.ts';

/** An error of Node's sockets as one of ours. */
export function socketError(operation: string, error: unknown): KernelError {
  const errno = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  const kernelMessage = errno === undefined && error instanceof Error ? error.message : undefined;
  return new KernelError('KERNEL_SOCKET', { operation, errno, kernelMessage });
}
