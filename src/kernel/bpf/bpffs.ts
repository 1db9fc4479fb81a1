import { fileSystemType } from '../libc.ts';
import { bpfError } from './error.ts';
import { bpf, callBpf } from './system-call.ts';

/** The folder at which systemd and container runtimes mount the file system of BPF objects. */
export const BPFFS = '/sys/fs/bpf';

/** `BPF_FS_MAGIC` */
const BPF_FILE_SYSTEM = 0xcafe4a11;

export function isBpffs(path: string): boolean {
  return fileSystemType(path) === BPF_FILE_SYSTEM;
}

/** Gives an object a name in a bpffs, where it outlives the process. */
export function pin(fd: number, path: string): void {
  bpf('OBJ_PIN', path, { path: Buffer.from(`${path}\0`), fd });
}

/** Opens a pinned object. Undefined if nothing has this name. */
export function openPin(path: string): number | undefined {
  const { result, errno } = callBpf('OBJ_GET', { path: Buffer.from(`${path}\0`) });
  if (errno !== undefined && errno !== 'ENOENT') throw bpfError('OBJ_GET', path, errno);
  return errno === undefined ? result : undefined;
}
