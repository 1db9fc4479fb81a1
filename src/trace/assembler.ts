import type { TracedConnection, TracedHeaders, TraceFamily, TraceMessage } from '../kernel/nftables/index.ts';
import { type Clock, systemClock, type Timer } from '../lib/clock.ts';
import { lastChainOf, MarkingChain } from './marking-table.ts';
import { fingerprintOf, type PacketHeaders, readHeaders } from './packet-headers.ts';

/** What one base chain did with a packet, as the kernel reported it. */
export interface ChainVisit {
  readonly family: TraceFamily;
  readonly table: string;
  readonly chain: string;
  /** The packet when it came into the chain. Undefined if the kernel sent no headers of IP. */
  readonly headers: PacketHeaders | undefined;
  readonly raw: TracedHeaders;
  readonly connection: TracedConnection | undefined;
  readonly messages: readonly TraceMessage[];
}

export interface AssemblerOptions {
  /** The table that marks packets. Packets that another program traces are ignored. */
  readonly table: string;
  completed(visits: readonly ChainVisit[]): void;
  readonly clock?: Clock;
}

/** A packet without news for so long is complete: something that nf_tables does not know has taken it. */
const QUIET_MS = 200;
const ARPHRD_LOOPBACK = 772;

interface OpenPacket {
  readonly visits: (ChainVisit & { readonly messages: TraceMessage[] })[];
  timer: Timer;
}

/** Puts the messages about each packet together. */
export class Assembler {
  readonly #options: AssemblerOptions;
  readonly #clock: Clock;
  readonly #open = new Map<number, OpenPacket>();

  constructor(options: AssemblerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  add(message: TraceMessage): void {
    const packet = this.#packetOf(message);
    if (!packet) return;
    this.#append(packet, message);
    packet.timer.cancel();
    packet.timer = this.#watch(message.id);
    if (isEnd(packet, message, this.#options.table)) this.#complete(message.id);
  }

  /** Completes all packets, as they are. */
  flush(): void {
    for (const id of [...this.#open.keys()]) this.#complete(id);
  }

  #packetOf(message: TraceMessage): OpenPacket | undefined {
    const { id, packet: headers, chain, table } = message;
    if (!headers) return this.#open.get(id);
    const isFirst = table === this.#options.table && chain === MarkingChain.MARK;
    const known = isFirst ? undefined : this.#open.get(id);
    return known ?? this.#renamed(id, headers) ?? (isFirst ? this.#begin(id) : undefined);
  }

  #begin(id: number): OpenPacket {
    // The kernel uses a number again as soon as the packet is gone.
    this.#complete(id);
    const packet: OpenPacket = { visits: [], timer: this.#watch(id) };
    this.#open.set(id, packet);
    return packet;
  }

  /**
   * Finds a packet that goes on with another number. The number depends on the interface that the packet came in
   * through. It changes if the loopback interface receives a packet of this machine, and if a bridge gives a packet to
   * the IP layer after it ran the prerouting hook itself (br_netfilter).
   */
  #renamed(id: number, raw: TracedHeaders): OpenPacket | undefined {
    const fingerprint = fingerprintIn(raw);
    for (const [oldId, packet] of this.#open) {
      const last = packet.visits.at(-1);
      if (oldId === id || !last || fingerprint === undefined || fingerprintIn(last.raw) !== fingerprint) continue;
      packet.timer.cancel();
      this.#open.delete(oldId);
      this.#complete(id);
      this.#open.set(id, packet);
      return packet;
    }
    return undefined;
  }

  #append({ visits }: OpenPacket, message: TraceMessage): void {
    const { family, table, chain, packet: raw, connection } = message;
    if (raw) {
      const headers = readHeaders(raw.network, raw.transport);
      visits.push({ family, table, chain, headers, raw, connection, messages: [message] });
    } else visits.at(-1)?.messages.push(message);
  }

  #watch(id: number): Timer {
    return this.#clock.setTimer(QUIET_MS, () => this.#complete(id));
  }

  #complete(id: number): void {
    const packet = this.#open.get(id);
    if (!packet) return;
    packet.timer.cancel();
    this.#open.delete(id);
    this.#options.completed(packet.visits);
  }
}

function fingerprintIn({ network, transport }: TracedHeaders): string | undefined {
  const headers = readHeaders(network, transport);
  return headers && fingerprintOf(headers, transport);
}

/** Whether the packet goes no further: it is dropped, given to this machine, or it has left. */
function isEnd({ visits }: OpenPacket, { table, chain, type, verdict }: TraceMessage, ownTable: string): boolean {
  if (verdict.kind === 'drop') return true;
  if (table !== ownTable || type !== 'policy') return false;
  if (chain === lastChainOf('input')) return true;
  // The loopback interface receives what it sends, so such a packet goes on.
  return chain === lastChainOf('postrouting') && visits.at(-1)?.raw.oif?.type !== ARPHRD_LOOPBACK;
}
