import koffi from 'koffi';
import { check, close } from '../../src/kernel/libc.ts';

const libc = koffi.load('libc.so.6');
const fsopen = libc.func('int fsopen(const char *name, uint32_t flags)');
const fsconfig = libc.func('int fsconfig(int fd, uint32_t command, const char *key, const void *value, int aux)');
const fsmount = libc.func('int fsmount(int fd, uint32_t flags, uint32_t attributes)');

const CLOEXEC = 1;
const FSCONFIG_CMD_CREATE = 6;

/**
 * Runs the work with a bpffs of its own. The file system is mounted nowhere: only this process reaches it, by a
 * descriptor, and it ends with the descriptor.
 */
export async function withBpffs<T>(work: (path: string) => Promise<T>): Promise<T> {
  const context = check(fsopen('bpf', CLOEXEC), 'open a bpffs');
  try {
    check(fsconfig(context, FSCONFIG_CMD_CREATE, null, null, 0), 'create a bpffs');
    const mount = check(fsmount(context, CLOEXEC, 0), 'mount a bpffs');
    try {
      return await work(`/proc/self/fd/${mount}`);
    } finally {
      close(mount);
    }
  } finally {
    close(context);
  }
}
