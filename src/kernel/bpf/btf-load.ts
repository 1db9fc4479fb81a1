import { bpfError } from './error.ts';
import { untilZero } from './struct-bytes.ts';
import { callBpf } from './system-call.ts';

const LOG_BYTES = 1 << 16;

/** Hands type information to the kernel. Returns a descriptor. */
export function loadBtf(data: Buffer): number {
  const { result, errno } = callBpf('BTF_LOAD', { data, dataSize: data.length });
  if (errno === undefined) return result;
  const log = Buffer.alloc(LOG_BYTES);
  callBpf('BTF_LOAD', { data, dataSize: data.length, log, logSize: log.length, logLevel: 1 });
  throw bpfError('BTF_LOAD', 'types', errno, { kernelMessage: untilZero(log).trimEnd() });
}
