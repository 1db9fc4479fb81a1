import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { waitFor } from './wait-for.ts';

/**
 * The system calls that the default seccomp profile of container runtimes refuses to a process whose only capability is
 * NET_ADMIN. The profile also answers clone3 with ENOSYS.
 */
const REFUSED_SYSTEM_CALLS = [
  'acct add_key bpf chroot clock_settime delete_module fanotify_init finit_module fsconfig fsmount fsopen fspick',
  'get_mempolicy init_module io_uring_enter io_uring_register io_uring_setup kcmp kexec_file_load kexec_load keyctl',
  'lookup_dcookie mbind migrate_pages mount mount_setattr move_mount move_pages nfsservctl open_by_handle_at open_tree',
  'perf_event_open pidfd_getfd pivot_root process_madvise quotactl quotactl_fd reboot request_key set_mempolicy',
  'set_mempolicy_home_node setdomainname sethostname setns settimeofday swapoff swapon syslog umount2 unshare userfaultfd',
].flatMap(line => line.split(' ').map(name => `?${name}`));

/** The system calls that the profile allows with a capability. */
const ALLOWED_WITH: Readonly<Record<string, readonly string[]>> = { bpf: ['?bpf'], perfmon: ['?perf_event_open'] };

function strace({ capabilities }: Rights): readonly string[] {
  const allowed = capabilities.flatMap(name => ALLOWED_WITH[name] ?? []);
  const calls = REFUSED_SYSTEM_CALLS.filter(name => !allowed.includes(name)).join();
  return [
    ...['strace', '-D', '-f', '--seccomp-bpf', '-qqq', '-e', 'signal=none', '-e', `trace=clone3,${calls}`],
    ...['-e', 'inject=clone3:error=ENOSYS', '-e', `inject=${calls}:error=EPERM`],
  ];
}

/**
 * Makes the file systems of an unprivileged container, with an emptyDir as deploy/ has it, and those that it gives to
 * ebpf mode. The program is at /mnt.
 */
const MOUNTS = `set -e
mount --make-rprivate /
mount --bind . /mnt
mount -o remount,bind,ro /mnt
mount -t tmpfs -o ro tmpfs /tmp
mkdir -p /run/pointsman
mount -t tmpfs -o mode=777 tmpfs /run/pointsman
mount -o remount,bind,ro /
mount -t proc proc /proc
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
mount --rbind /sys/fs/cgroup /media
mount -t sysfs -o ro sysfs /sys
mount --rbind /media /sys/fs/cgroup
mount -t bpf bpf /sys/fs/bpf
cd /mnt
exec "$@"`;

export interface Rights {
  readonly uid: number;
  /** In lower case, without CAP_. */
  readonly capabilities: readonly string[];
}

/**
 * The program itself with few rights, as in an unprivileged container: read-only file systems, no_new_privs, and errors
 * for the system calls that container runtimes refuse.
 */
export class SandboxedProgram {
  readonly #child: ChildProcess;
  #output = '';

  constructor(namespace: NetworkNamespace, rights: Rights, args: readonly string[]) {
    const command = [...strace(rights), ...setpriv(rights), 'bin/kube-proxy', ...args];
    const all = ['--mount', 'sh', '-c', MOUNTS, 'sh', ...command];
    this.#child = namespace.run(() => spawn('unshare', all, { stdio: ['ignore', 'ignore', 'pipe'] }));
    this.#child.stderr?.on('data', data => {
      this.#output += data;
    });
  }

  /** The lines of the program's log. */
  get log(): readonly string[] {
    return this.#output.split('\n').filter(line => /^[IWEF]\d{4} /.test(line));
  }

  /** The refused system calls that the program or one of its children tried, with their arguments. */
  get refusedCalls(): readonly string[] {
    return this.#output.split('\n').filter(line => line.includes('(INJECTED)') && !line.includes('clone3('));
  }

  async untilLogged(words: string): Promise<void> {
    const isLogged = () => this.log.some(line => line.includes(words));
    await waitFor(`the program logs "${words}"`, isLogged, { timeoutMs: 30_000, details: () => this.#output });
  }

  /** A field of /proc/PID/status. */
  status(field: string): string | undefined {
    const text = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return new RegExp(`^${field}:\\s*(.*)$`, 'm').exec(text)?.[1];
  }

  /** The options of the file system that is mounted at the path. */
  mountOptions(path: string): readonly string[] {
    const mounts = readFileSync(`/proc/${this.#child.pid}/mounts`, 'utf8').split('\n');
    const options = mounts.map(line => line.split(' ')).findLast(([, where]) => where === path)?.[3];
    return options?.split(',') ?? [];
  }

  /** Runs a command of the program beside it, as `kubectl exec` does. */
  exec(...args: string[]): { readonly status: number | null; readonly stdout: string } {
    const all = ['-t', `${this.#child.pid}`, '-m', '-n', '--', '/mnt/bin/kube-proxy', ...args];
    return spawnSync('nsenter', all, { encoding: 'utf8' });
  }

  async end(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal);
    return this.exitStatus();
  }

  async exitStatus(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit');
    return this.#child.exitCode;
  }
}

function setpriv({ uid, capabilities }: Rights): readonly string[] {
  const set = ['-all', ...capabilities.map(name => `+${name}`)].join();
  const user = ['--reuid', `${uid}`, '--regid', `${uid}`, '--clear-groups'];
  return ['setpriv', ...user, '--inh-caps', set, '--ambient-caps', set, '--bounding-set', set, '--no-new-privs'];
}
