import type { Hook, TracedConnection, TracedHeaders, TraceFamily, TraceMessage } from '../kernel/nftables/index.ts';
import { type Clock, systemClock, type Timer } from '../lib/clock.ts';
import { lastChainOf, MarkingChain } from './marking-table.ts';
import { type PacketHeaders, readHeaders, sameEnds } from './packet-headers.ts';

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
  /** The packet left through the loopback interface, so it comes in again with another id. */
  isLooping: boolean;
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
    if (isEnd(message, this.#options.table)) this.#endOrLoop(message.id, packet);
  }

  /** Completes all packets, as they are. */
  flush(): void {
    for (const id of [...this.#open.keys()]) this.#complete(id);
  }

  #packetOf(message: TraceMessage): OpenPacket | undefined {
    const { id, packet: headers, chain } = message;
    const isOwn = message.table === this.#options.table;
    if (!isOwn || !headers) return this.#open.get(id);
    if (headers.iif?.type === ARPHRD_LOOPBACK && isEntry(chain)) {
      const looping = this.#continueLoop(id, readHeaders(headers.network, headers.transport));
      if (looping) return looping;
    }
    if (chain !== MarkingChain.MARK) return this.#open.get(id);
    // The kernel uses a number again as soon as the packet is gone.
    this.#complete(id);
    const packet: OpenPacket = { visits: [], timer: this.#watch(id), isLooping: false };
    this.#open.set(id, packet);
    return packet;
  }

  /** Finds the packet that left through the loopback interface and comes in again, and gives it its new id. */
  #continueLoop(id: number, headers: PacketHeaders | undefined): OpenPacket | undefined {
    for (const [oldId, packet] of this.#open) {
      const last = packet.visits.at(-1)?.headers;
      if (!packet.isLooping || !headers || !last || !sameEnds(last, headers)) continue;
      packet.isLooping = false;
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

  #endOrLoop(id: number, packet: OpenPacket): void {
    const last = packet.visits.at(-1);
    const leaves = last?.chain === lastChainOf('postrouting') && last.table === this.#options.table;
    packet.isLooping = leaves && last.raw.oif?.type === ARPHRD_LOOPBACK;
    if (!packet.isLooping) this.#complete(id);
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

function isEntry(chain: string): boolean {
  return chain === MarkingChain.MARK || chain === MarkingChain.PREROUTING;
}

const LAST_CHAINS: ReadonlySet<string> = new Set((['input', 'postrouting'] satisfies Hook[]).map(lastChainOf));

/** Whether the packet goes no further: it is dropped, or it has passed all chains of its last hook. */
function isEnd({ table, chain, type, verdict }: TraceMessage, ownTable: string): boolean {
  if (verdict.kind === 'drop') return true;
  return table === ownTable && type === 'policy' && LAST_CHAINS.has(chain);
}
