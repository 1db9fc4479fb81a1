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

/**
 * A packet without news for eight ticks, 200 ms, is complete: something that nf_tables does not know has taken it. While
 * this process waits for a processor, at most one tick passes, because messages may be waiting, too.
 */
const TICK_MS = 25;
const QUIET_TICKS = 8;
const ARPHRD_LOOPBACK = 772;

interface OpenPacket {
  readonly visits: (ChainVisit & { readonly messages: TraceMessage[] })[];
  /** Since the last message. */
  ticks: number;
}

/** Puts the messages about each packet together. */
export class Assembler {
  readonly #options: AssemblerOptions;
  readonly #clock: Clock;
  readonly #open = new Map<number, OpenPacket>();
  #timer: Timer | undefined;

  constructor(options: AssemblerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  add(message: TraceMessage): void {
    const packet = this.#packetOf(message);
    if (!packet) return;
    this.#append(packet, message);
    packet.ticks = 0;
    if (isEnd(packet, message, this.#options.table)) this.#complete(message.id);
  }

  /** Completes all packets, as they are. */
  flush(): void {
    for (const id of [...this.#open.keys()]) this.#complete(id);
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #packetOf(message: TraceMessage): OpenPacket | undefined {
    const { id, packet: headers } = message;
    if (!headers) return this.#open.get(id);
    const isFirst = isFirstMessage(message, this.#options.table);
    const known = isFirst ? undefined : this.#open.get(id);
    return known ?? this.#renamed(id, headers) ?? (isFirst ? this.#begin(id) : undefined);
  }

  #begin(id: number): OpenPacket {
    // The kernel uses a number again as soon as the packet is gone.
    this.#complete(id);
    const packet: OpenPacket = { visits: [], ticks: 0 };
    this.#open.set(id, packet);
    this.#timer ??= this.#clock.setTimer(TICK_MS, () => this.#tick());
    return packet;
  }

  /**
   * Finds a packet that goes on with another number. The number depends on the interface that the packet came in
   * through. It changes if the loopback interface receives a packet of this machine, and if a bridge gives a packet to
   * the IP layer after it ran the prerouting hook itself (br_netfilter). Also finds a packet that is marked again: ipvs
   * sends what it received in the input hook through the output hook.
   */
  #renamed(id: number, raw: TracedHeaders): OpenPacket | undefined {
    const fingerprint = fingerprintIn(raw);
    for (const [oldId, packet] of this.#open) {
      const last = packet.visits.at(-1);
      if (!last || fingerprint === undefined || fingerprintIn(last.raw) !== fingerprint) continue;
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

  #tick(): void {
    for (const [id, packet] of [...this.#open]) if (++packet.ticks >= QUIET_TICKS) this.#complete(id);
    this.#timer = this.#open.size === 0 ? undefined : this.#clock.setTimer(TICK_MS, () => this.#tick());
  }

  #complete(id: number): void {
    const packet = this.#open.get(id);
    if (!packet) return;
    this.#open.delete(id);
    this.#options.completed(packet.visits);
  }
}

function fingerprintIn({ network, transport }: TracedHeaders): string | undefined {
  const headers = readHeaders(network, transport);
  return headers && fingerprintOf(headers, transport);
}

/**
 * Whether the message is the first about a selected packet. The kernel reports the jump to the rules that mark only if
 * another program traces the packet already.
 */
function isFirstMessage({ table, chain, verdict }: TraceMessage, ownTable: string): boolean {
  if (table !== ownTable) return false;
  return chain === MarkingChain.MARK || (verdict.kind === 'jump' && verdict.chain === MarkingChain.MARK);
}

/** Whether the packet goes no further: it is dropped, given to this machine, or it has left. */
function isEnd({ visits }: OpenPacket, { table, chain, type, verdict }: TraceMessage, ownTable: string): boolean {
  if (verdict.kind === 'drop') return true;
  if (table !== ownTable || type !== 'policy') return false;
  if (chain === lastChainOf('input')) return true;
  // The loopback interface receives what it sends, so such a packet goes on.
  return chain === lastChainOf('postrouting') && visits.at(-1)?.raw.oif?.type !== ARPHRD_LOOPBACK;
}
