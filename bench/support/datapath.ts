import { readdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import type { BenchGroup, EbpfLab } from './ebpf-lab.ts';
import { answerQuestions, Role } from './role.ts';
import type { Caller, Slice, Way } from './slices.ts';
import {
  connectMany,
  connectOnly,
  isTranslated,
  type Load,
  type ManyConnections,
  type Operation,
  openServer,
  runLoad,
  type ServerOptions,
  type SocketAddress,
} from './socket-load.ts';

/** Client and server share this processor. Then the time of an operation is everything that it costs. */
const CORE = Math.max(0, cores() - 1);
/** Before other programs that want the same processor. */
const PRIORITY = -10;
/** If client and server had less of their processor, other programs had it too. */
const QUIET_SHARE = 0.93;

type Question =
  | { readonly kind: 'serve'; readonly options: ServerOptions }
  | { readonly kind: 'load'; readonly operation: Operation; readonly address: SocketAddress; readonly ms: number }
  | { readonly kind: 'connect only'; readonly addresses: readonly SocketAddress[] }
  | { readonly kind: 'connect many'; readonly address: SocketAddress; readonly most: number; readonly ms: number }
  | { readonly kind: 'check'; readonly service: SocketAddress; readonly endpoint: SocketAddress };

/** The clients on the node and in a pod, and the servers. Each is a process. */
export class Clients {
  readonly #lab: EbpfLab;
  readonly #group: BenchGroup;
  readonly #clients: Readonly<Record<Caller, Role>>;
  readonly #servers: Role[] = [];
  readonly #inGroup = new Set<Role>();
  readonly #softInterrupts = kernelThread(`ksoftirqd/${CORE}`);

  private constructor(lab: EbpfLab, group: BenchGroup, clients: Readonly<Record<Caller, Role>>) {
    this.#lab = lab;
    this.#group = group;
    this.#clients = clients;
  }

  static async start(lab: EbpfLab, group: BenchGroup): Promise<Clients> {
    const node = await Role.start('load', CORE, lab.node.namespace);
    const pod = await Role.start('load', CORE, lab.client.namespace);
    return new Clients(lab, group, { node, pod });
  }

  async addServer(options: ServerOptions): Promise<void> {
    const server = await Role.start('load', CORE, this.#lab.server.namespace);
    this.#servers.push(server);
    await server.ask({ kind: 'serve', options } satisfies Question);
  }

  async slice(
    round: number,
    caller: Caller,
    way: Way,
    load: { operation: Operation; address: SocketAddress; ms: number },
  ): Promise<Slice> {
    const client = this.#place(caller, way);
    await this.#lab.emptyConntrack();
    const before = this.#othersMs();
    const result = await client.ask<Load>({ kind: 'load', ...load } satisfies Question);
    if (result.errors > 0) throw new Error(`${caller}, ${way}: ${result.errors} failures of ${load.operation}`);
    const cpuMs = result.cpuMs + this.#othersMs() - before;
    return {
      round,
      cpuUs: (cpuMs * 1000) / result.count,
      perSecond: (result.count * 1000) / result.ms,
      p50: result.p50,
      p99: result.p99,
      isQuiet: cpuMs / result.ms >= QUIET_SHARE,
    };
  }

  connectOnly(caller: Caller, way: Way, addresses: readonly SocketAddress[]): Promise<void> {
    return this.#place(caller, way).ask({ kind: 'connect only', addresses } satisfies Question);
  }

  connectMany(caller: Caller, way: Way, address: SocketAddress, most: number, ms: number): Promise<ManyConnections> {
    return this.#place(caller, way).ask({ kind: 'connect many', address, most, ms } satisfies Question);
  }

  isTranslated(caller: Caller, way: Way, service: SocketAddress, endpoint: SocketAddress): Promise<boolean> {
    return this.#place(caller, way).ask({ kind: 'check', service, endpoint } satisfies Question);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#servers, ...Object.values(this.#clients)].map(role => role.end()));
  }

  /** Only `ebpf` is in the control group that the mode serves. To move a process takes the kernel some milliseconds. */
  #place(caller: Caller, way: Way): Role {
    const client = this.#clients[caller];
    const isIn = this.#inGroup.has(client);
    if (way === 'ebpf' && !isIn) {
      this.#group.take(client.pid);
      this.#inGroup.add(client);
    } else if (way !== 'ebpf' && isIn) {
      this.#group.release(client.pid);
      this.#inGroup.delete(client);
    }
    return client;
  }

  /** The processor time of the servers and of the kernel's thread for packets that had to wait. */
  #othersMs(): number {
    const pids = [...this.#servers.map(({ pid }) => pid), ...this.#softInterrupts];
    return pids.reduce((sum, pid) => sum + threadMs(pid), 0);
  }
}

/** In the process of a client or a server. */
export function playLoad(): void {
  setPriority(PRIORITY);
  answerQuestions(async (question: Question) => {
    switch (question.kind) {
      case 'serve': {
        const serve = openServer(question.options);
        // The answer to this question goes out first.
        setTimeout(serve, 50);
        return undefined;
      }
      case 'load':
        return runLoad(question.operation, question.address, question.ms);
      case 'connect only':
        return connectOnly(question.addresses);
      case 'connect many':
        return connectMany(question.address, question.most, question.ms);
      case 'check':
        return isTranslated(question.service, question.endpoint);
    }
  });
}

/** All cores of the machine, those included that this process may not use. */
export function cores(): number {
  return readFileSync('/proc/stat', 'utf8').match(/^cpu\d+/gm)?.length ?? 1;
}

/** The ids of the kernel's thread with this name. None where /proc does not show it. */
function kernelThread(name: string): readonly number[] {
  return readdirSync('/proc').flatMap(entry => {
    const pid = Number(entry);
    return Number.isInteger(pid) && commandOf(pid) === name ? pid : [];
  });
}

function commandOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return undefined;
  }
}

function threadMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}
