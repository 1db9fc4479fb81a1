import type { Flow } from '../../kernel/conntrack/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import {
  type DataType,
  dataBytes,
  ipDaddr,
  ipSaddr,
  matchCtState,
  matchL4proto,
  matchMasked,
  matchSet,
  NftablesSocket,
  type NftSet,
  payload,
  rejectWithTcpReset,
  Transaction,
  thDport,
  thSport,
} from '../../kernel/nftables/index.ts';
import { type Clock, systemClock, type Timer } from '../../lib/clock.ts';
import type { Family } from '../../net/index.ts';

const ENDED_TABLE = 'kube-proxy-ended';
const CHAIN = 'prerouting';
/** After connection tracking (-200) and before the chains of every mode (-110 and later). */
const PRIORITY = -150;
/** Longer than two hours. After two hours the kernel of a client probes an idle connection, if it does at all. */
const LIFETIME_MS = 9_000_000;
const MAX_CLIENTS = 65_536;
const tcpFlags = payload('transport', 13, 1);
const SYN = Buffer.from([2]);
const NONE_SET = Buffer.from([0]);

const LAYOUTS = { IPv4: layoutOf('ip', 'ipv4_addr'), IPv6: layoutOf('ip6', 'ipv6_addr') } as const;

function layoutOf(nft: 'ip' | 'ip6', addressType: DataType) {
  const type: readonly DataType[] = [addressType, 'inet_service', addressType, 'inet_service'];
  const set: NftSet = { kind: 'set', name: 'clients', type, timeout: LIFETIME_MS, size: MAX_CLIENTS };
  return { nft, type, set };
}

/**
 * Makes the kernel answer the next packet of ended connections by TCP RST. It is for clients whose socket this process
 * cannot end, most of them on other machines. Without it their packets would count as new, and a frontend without
 * endpoints answers those by ICMP, which does not end an open connection.
 *
 * The rules are in a table of their own. The kernel deletes the table with its socket, also if the process is killed.
 */
export class ResetAnswers {
  readonly #namespace: NetworkNamespace | undefined;
  readonly #clock: Clock;
  #socket: NftablesSocket | undefined;
  readonly #tables = new Set<Family>();
  #timer: Timer | undefined;

  constructor(namespace: NetworkNamespace | undefined, clock: Clock = systemClock) {
    this.#namespace = namespace;
    this.#clock = clock;
  }

  async add(family: Family, flows: readonly Flow[]): Promise<void> {
    if (flows.length === 0) return;
    const { nft, type, set } = LAYOUTS[family];
    this.#socket ??= NftablesSocket.open({ namespace: this.#namespace });
    const transaction = new Transaction(nft, ENDED_TABLE);
    if (!this.#tables.has(family)) addTable(transaction, LAYOUTS[family]);
    const elements = flows.slice(0, MAX_CLIENTS).map(({ original: { src, srcPort, dst, dstPort } }) => {
      return { kind: 'element', key: dataBytes(type, [src, srcPort, dst, dstPort]) } as const;
    });
    await this.#socket.commit(transaction.addElements(set, elements));
    this.#tables.add(family);
    this.#timer?.cancel();
    this.#timer = this.#clock.setTimer(LIFETIME_MS, () => this.close());
  }

  close(): void {
    this.#timer?.cancel();
    this.#socket?.close();
    this.#socket = undefined;
    this.#tables.clear();
  }
}

function addTable(transaction: Transaction, { nft, set }: (typeof LAYOUTS)[Family]): void {
  const base = { type: 'filter', hook: 'prerouting', priority: PRIORITY } as const;
  const comment = 'answers packets of ended connections';
  transaction.add({ kind: 'table', family: nft, name: ENDED_TABLE, owned: true, comment });
  transaction.add({ kind: 'chain', name: CHAIN, base }).add(set);
  transaction.add({
    kind: 'rule',
    chain: CHAIN,
    expressions: [
      ...matchCtState('new', 'invalid'),
      ...matchL4proto('tcp'),
      // The client may call again from the same port.
      ...matchMasked(tcpFlags, SYN, 'eq', NONE_SET),
      ...matchSet([ipSaddr(nft), thSport, ipDaddr(nft), thDport], set.name),
      rejectWithTcpReset,
    ],
  });
}
