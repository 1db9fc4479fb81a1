import { randomBytes } from 'node:crypto';
import { ConntrackSocket, printFlow } from '../kernel/conntrack/index.ts';
import { KernelError } from '../kernel/errors.ts';
import { uninterrupted } from '../kernel/netlink/index.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';
import { NftablesSocket, TraceMonitor } from '../kernel/nftables/index.ts';
import { RouteSocket } from '../kernel/rtnetlink/index.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { asError } from '../lib/error-text.ts';
import { Turns } from '../lib/turns.ts';
import { Assembler, type ChainVisit } from './assembler.ts';
import { describePacket, type PacketSources } from './describe-packet.ts';
import { IptablesTexts } from './iptables-texts.ts';
import { markingTable } from './marking-table.ts';
import type { PacketHeaders } from './packet-headers.ts';
import { Ruleset } from './ruleset.ts';
import type { PacketSelection } from './selection.ts';
import { TraceError } from './trace-error.ts';
import type { TracedPacket } from './traced-packet.ts';

export interface TracerHandlers {
  /** One packet at a time, in the order in which they ended. */
  traced(packet: TracedPacket): void;
  /** The kernel dropped messages, so that packets may be missing or look lost. */
  overrun(): void;
  /** The trace has ended. */
  failed(error: Error): void;
}

export interface TracerOptions {
  readonly namespace?: NetworkNamespace | undefined;
  readonly clock?: Clock;
  /** Tests give a socket of their own. The tracer closes it. */
  readonly socket?: NftablesSocket;
}

/** Follows selected packets until it is closed. */
export class Tracer {
  readonly #socket: NftablesSocket;
  readonly #route: RouteSocket;
  readonly #conntrack: ConntrackSocket;
  readonly #monitor: TraceMonitor;
  readonly #assembler: Assembler;
  readonly #sources: PacketSources;
  readonly #handlers: TracerHandlers;
  readonly #turns = new Turns();
  readonly #interfaces = new Map<number, string>();
  #closed = false;

  private constructor(socket: NftablesSocket, table: string, handlers: TracerHandlers, options: TracerOptions) {
    const { namespace, clock = systemClock } = options;
    this.#socket = socket;
    this.#handlers = handlers;
    this.#route = RouteSocket.open({ namespace });
    this.#conntrack = ConntrackSocket.open({ namespace });
    this.#assembler = new Assembler({ table, clock, completed: visits => void this.#describe(visits) });
    this.#sources = {
      table,
      ruleset: new Ruleset(socket),
      iptables: new IptablesTexts(namespace),
      interfaceName: index => this.#interfaceName(index),
      flow: first => this.#flow(first),
      now: () => clock.now(),
    };
    this.#monitor = TraceMonitor.open(
      {
        traced: message => this.#assembler.add(message),
        overrun: () => handlers.overrun(),
        failed: error => this.#fail(error),
      },
      { namespace },
    );
  }

  /** Throws a TraceError if the kernel or the rights of this process do not allow a trace. */
  static async open(
    selection: PacketSelection,
    handlers: TracerHandlers,
    options: TracerOptions = {},
  ): Promise<Tracer> {
    // Processes of different containers may have the same number.
    const table = `pointsman-trace-${process.pid}-${randomBytes(4).toString('hex')}`;
    const socket = options.socket ?? NftablesSocket.open({ namespace: options.namespace });
    let tracer: Tracer | undefined;
    try {
      tracer = new Tracer(socket, table, handlers, options);
      await socket.commit(markingTable(table, selection));
      return tracer;
    } catch (error) {
      await tracer?.close();
      socket.close();
      throw error instanceof KernelError ? TraceError.fromKernel(error) : error;
    }
  }

  /** Describes packets that are not complete as they are. Resolves when all packets were handed over. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#monitor.close();
    this.#assembler.flush();
    await this.#turns.take(async () => undefined);
    // The kernel deletes the table with the socket.
    this.#socket.close();
    this.#route.close();
    this.#conntrack.close();
  }

  async #describe(visits: readonly ChainVisit[]): Promise<void> {
    try {
      await this.#turns.take(async () => {
        const packet = await uninterrupted(() => describePacket(visits, this.#sources));
        if (packet) this.#handlers.traced(packet);
      });
    } catch (error) {
      this.#fail(asError(error));
    }
  }

  #fail(error: Error): void {
    if (this.#closed) return;
    void this.close();
    this.#handlers.failed(error);
  }

  #interfaceName(index: number | undefined): string | undefined {
    if (index === undefined) return undefined;
    if (!this.#interfaces.has(index)) {
      for (const link of this.#route.links()) this.#interfaces.set(link.index, link.name);
    }
    return this.#interfaces.get(index) ?? `interface ${index}`;
  }

  async #flow(headers: PacketHeaders): Promise<string | undefined> {
    const { family, protocolNumber: protocol, source, destination, sourcePort, destinationPort } = headers;
    if (sourcePort === undefined || destinationPort === undefined) return undefined;
    const original = { src: source, dst: destination, srcPort: sourcePort, dstPort: destinationPort };
    try {
      const flow = await this.#conntrack.get({ family, protocol, original });
      return flow && printFlow(flow);
    } catch (error) {
      // A machine without conntrack has no flows.
      if (error instanceof KernelError) return undefined;
      throw error;
    }
  }
}
