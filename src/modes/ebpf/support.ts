import { release } from 'node:os';
import { BpfMap, BpfProgram, type MapSpec, nodeControlGroup, type ProgramSpec } from '../../kernel/bpf/index.ts';
import { KernelError } from '../../kernel/errors.ts';
import { isOlderKernel } from '../../kernel/kernel-version.ts';
import { type NetworkNamespace, namespaceCookie } from '../../kernel/netns.ts';
import { errorText } from '../../lib/error-text.ts';
import { MAP_NAMES, mapSpec, type ProgramOptions, socketPrograms } from './programs/index.ts';

export interface SocketSupportOptions {
  /** The control group whose sockets are to be served. The default is the root of the machine. */
  readonly cgroupRoot?: string | undefined;
  /** The node's network namespace. */
  readonly namespace?: NetworkNamespace | undefined;
  /** For tests. */
  readonly kernel?: ProbedKernel;
}

/** What the probe tries. */
export interface ProbedKernel {
  readonly version: string;
  createMap(spec: MapSpec): { readonly fd: number; close(): void };
  loadProgram(spec: ProgramSpec, descriptor: (map: string) => number): { close(): void };
  cookieOf(namespace: NetworkNamespace | undefined): bigint;
}

export interface SocketSupport {
  /** Whether the kernel has `bpf_set_retval`. Without it the network refuses connections. */
  readonly canRefuse: boolean;
}

/** The first thing that this kernel lacks, or that this process may not do. */
export interface MissingSupport {
  /** What is missing, and what the operator can do, in one line. */
  readonly missing: string;
}

const REAL_KERNEL: ProbedKernel = {
  version: release(),
  createMap: BpfMap.create,
  loadProgram: (spec, descriptor) => BpfProgram.load(spec, descriptor),
  cookieOf: namespaceCookie,
};

/** Linux 5.14 has SO_NETNS_COOKIE. Everything else that the mode cannot do without is older. */
const MIN_KERNEL = [5, 14] as const;
const ENTRIES = 1;
/** The verifier's last line says how much it did, and nothing about the error. */
const STATISTICS = /^(processed \d+ insns|verification time )/;

/** Tries for real what the mode needs: makes each kind of map, and loads each program with all parts. Keeps nothing. */
export function socketSupport(options: SocketSupportOptions = {}): SocketSupport | MissingSupport {
  const { cgroupRoot, namespace, kernel = REAL_KERNEL } = options;
  const group = nodeControlGroup(cgroupRoot);
  if ('missing' in group) return { missing: group.missing };
  const maps = new Map<string, ReturnType<ProbedKernel['createMap']>>();
  try {
    const nodeCookie = kernel.cookieOf(namespace);
    for (const name of MAP_NAMES) maps.set(name, kernel.createMap(mapSpec(name, ENTRIES)));
    const descriptor = (name: string) => maps.get(name)?.fd ?? -1;
    return { canRefuse: loadAll(kernel, nodeCookie, descriptor) };
  } catch (error) {
    return explain(error, kernel.version);
  } finally {
    for (const map of maps.values()) map.close();
  }
}

/** Returns whether the programs can refuse. Throws if the kernel does not accept one of them even without that. */
function loadAll(kernel: ProbedKernel, nodeCookie: bigint, descriptor: (map: string) => number): boolean {
  const parts = { hasAffinity: true, hasLeastConnections: true, countsConnections: true } as const;
  const load = (options: Pick<ProgramOptions, 'canRefuse'>) => {
    for (const spec of socketPrograms({ nodeCookie, scope: 'all', ...parts, ...options })) {
      kernel.loadProgram(spec, descriptor).close();
    }
  };
  try {
    load({ canRefuse: true });
    return true;
  } catch {
    load({ canRefuse: false });
    return false;
  }
}

function explain(error: unknown, version: string): MissingSupport {
  if (!(error instanceof KernelError)) return { missing: errorText(error) };
  const { operation, errno, kernelMessage = '', advice } = error;
  const cause = kernelMessage.split('\n').findLast(line => line !== '' && !STATISTICS.test(line));
  const reason = [errno, cause].filter(Boolean).join(': ');
  const hint = advice ?? kernelAdvice(version, cause !== undefined);
  return { missing: `${operation} failed: ${reason}; ${hint}` };
}

function kernelAdvice(version: string, isRefusedByVerifier: boolean): string {
  if (isOlderKernel(version, MIN_KERNEL)) {
    return `use Linux ${MIN_KERNEL.join('.')} or later, this kernel is ${version}`;
  }
  return isRefusedByVerifier
    ? `report this line and the version of this kernel, ${version}`
    : `use a kernel that is built with CONFIG_CGROUP_BPF, this kernel is ${version}`;
}
