import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { Program } from '../control-plane/program.ts';
import { ImageArchive, type ImageName } from './image-archive.ts';

export interface Mount {
  /** On this machine. */
  readonly source: string;
  /** In the container. */
  readonly destination: string;
  readonly readOnly?: boolean;
}

export interface ContainerOptions {
  readonly namespace: NetworkNamespace;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly mounts?: readonly Mount[];
  readonly privileged?: boolean;
  /** Without CAP_. The default is what container runtimes give. */
  readonly capabilities?: readonly string[];
  readonly readOnlyRoot?: boolean;
}

/** What containerd gives a container that asks for nothing. */
export const DEFAULT_CAPABILITIES = [
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE', 'NET_RAW'],
  ...['SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
];

/** In the kernel's order. */
const ALL_CAPABILITIES = [
  ...['CHOWN', 'DAC_OVERRIDE', 'DAC_READ_SEARCH', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID', 'SETPCAP'],
  ...['LINUX_IMMUTABLE', 'NET_BIND_SERVICE', 'NET_BROADCAST', 'NET_ADMIN', 'NET_RAW', 'IPC_LOCK', 'IPC_OWNER'],
  ...['SYS_MODULE', 'SYS_RAWIO', 'SYS_CHROOT', 'SYS_PTRACE', 'SYS_PACCT', 'SYS_ADMIN', 'SYS_BOOT', 'SYS_NICE'],
  ...['SYS_RESOURCE', 'SYS_TIME', 'SYS_TTY_CONFIG', 'MKNOD', 'LEASE', 'AUDIT_WRITE', 'AUDIT_CONTROL', 'SETFCAP'],
  ...['MAC_OVERRIDE', 'MAC_ADMIN', 'SYSLOG'],
];

/** A privileged container has what the machine can give, and a sandbox may lack some. */
function ownCapabilities(): readonly string[] {
  const [, bits = '0'] = /^CapEff:\t(\w+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return ALL_CAPABILITIES.filter((_, bit) => (BigInt(`0x${bits}`) >> BigInt(bit)) & 1n);
}

let containers = 0;

/** An image, unpacked into a folder of its own, and the containers that run from it. `close` ends and removes all. */
export class Containers {
  readonly root: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'containers-'));
  readonly #started: { readonly id: string; readonly program: Program }[] = [];

  constructor(image: ImageName) {
    this.root = `${this.#folder}/root`;
    mkdirSync(this.root);
    new ImageArchive(image).unpack('amd64', this.root);
  }

  /** A new folder that vanishes with the containers. */
  folder(name: string): string {
    return mkdtempSync(join(this.#folder, `${name}-`));
  }

  /** Starts a container. What it writes to its standard error are the lines of the program. */
  start(options: ContainerOptions): Program {
    const id = `pointsman-test-${process.pid}-${++containers}`;
    const program = new Program(id, ['runc', 'run', '--bundle', this.#bundle(options), id], options);
    this.#started.push({ id, program });
    return program;
  }

  /** Runs a container to its end. */
  run(options: ContainerOptions): { status: number | null; stdout: string; stderr: string } {
    const id = `pointsman-test-${process.pid}-${++containers}`;
    const { status, stdout, stderr } = spawnSync('runc', ['run', '--bundle', this.#bundle(options), id], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    return { status, stdout, stderr };
  }

  /** Runs a command in the container that was started last. */
  exec(args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
    const id = this.#started.at(-1)?.id ?? '';
    const { status, stdout, stderr } = spawnSync('runc', ['exec', id, ...args], { encoding: 'utf8', timeout: 60_000 });
    return { status, stdout, stderr };
  }

  async close(): Promise<void> {
    for (const { id, program } of this.#started) {
      // runc passes no SIGKILL on, so the container is killed by its name.
      spawnSync('runc', ['delete', '--force', id]);
      await program.stop('SIGKILL');
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #bundle(options: ContainerOptions): string {
    const bundle = this.folder('bundle');
    // Each container has its own files, as with a container runtime.
    cpSync(this.root, `${bundle}/rootfs`, { recursive: true, verbatimSymlinks: true });
    writeFileSync(`${bundle}/config.json`, JSON.stringify(runtimeConfiguration(options)));
    return bundle;
  }
}

function runtimeConfiguration(options: ContainerOptions) {
  const { args, env = {}, privileged = false, readOnlyRoot = false, namespace } = options;
  const names = privileged ? ownCapabilities() : (options.capabilities ?? DEFAULT_CAPABILITIES);
  const capabilities = names.map(name => `CAP_${name}`);
  const variables = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...env };
  return {
    ociVersion: '1.0.2',
    process: {
      user: { uid: 0, gid: 0 },
      args,
      env: Object.entries(variables).map(([name, value]) => `${name}=${value}`),
      cwd: '/',
      capabilities: { bounding: capabilities, effective: capabilities, permitted: capabilities },
      noNewPrivileges: !privileged,
    },
    root: { path: 'rootfs', readonly: readOnlyRoot },
    mounts: [...systemMounts(privileged), ...(options.mounts ?? []).map(bindMount)],
    linux: {
      namespaces: [
        ...['mount', 'pid', 'ipc', 'uts'].map(type => ({ type })),
        { type: 'network', path: namespace.path },
      ],
      ...(privileged
        ? {}
        : { readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'] }),
    },
  };
}

function systemMounts(privileged: boolean) {
  const limits = ['nosuid', 'noexec', 'nodev'];
  return [
    { destination: '/proc', type: 'proc', source: 'proc' },
    { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
    { destination: '/sys', type: 'sysfs', source: 'sysfs', options: [...limits, privileged ? 'rw' : 'ro'] },
  ];
}

function bindMount({ source, destination, readOnly = false }: Mount) {
  return { destination, source, type: 'bind', options: ['rbind', readOnly ? 'ro' : 'rw'] };
}
