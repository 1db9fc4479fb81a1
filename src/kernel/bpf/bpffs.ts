import { fileSystemType } from '../libc.ts';
import { Attributes, bpf, bpfError, tryBpf } from './system-call.ts';

/** The folder at which systemd and container runtimes mount it. */
export const BPFFS = '/sys/fs/bpf';

/** `BPF_FS_MAGIC` */
const BPF_FILE_SYSTEM = 0xcafe4a11;

export function isBpffs(path: string): boolean {
  return fileSystemType(path) === BPF_FILE_SYSTEM;
}

/** Gives an object a name in a bpffs, where it outlives the process. */
export function pin(fd: number, path: string): void {
  bpf('OBJ_PIN', path, new Attributes(24).pointer(0, Buffer.from(`${path}\0`)).u32(8, fd));
}

/** Opens a pinned object. Undefined if nothing has this name. */
export function openPin(path: string): number | undefined {
  const result = tryBpf('OBJ_GET', new Attributes(24).pointer(0, Buffer.from(`${path}\0`)));
  if (typeof result === 'number') return result;
  if (result.errno === 'ENOENT') return undefined;
  throw bpfError('OBJ_GET', path, result.errno);
}
