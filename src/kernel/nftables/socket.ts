import { setImmediate as nextTurn } from 'node:timers/promises';
import { KernelError } from '../errors.ts';
import { type Message, type MessageWriter, NetlinkSocket, Protocol } from '../netlink/index.ts';
import type { NetworkNamespace } from '../netns.ts';
import { type Batch, encodeBatch, maxMessageCount } from './batch.ts';
import { batchError } from './batch-error.ts';
import { type Chain, decodeChain, decodeChainUse } from './chain.ts';
import { decodeElements, type Element, ElementListAttribute } from './element.ts';
import { shapeOf } from './entries.ts';
import type { NftFamily } from './family.ts';
import { decodeGeneration } from './generation.ts';
import { joinIntervals } from './interval.ts';
import { familyHead, messageType, NftMessage, nftMessageOf, UNSPECIFIED_HEAD } from './message.ts';
import { decodeRule, type Rule, RuleAttribute } from './rule.ts';
import { decodeSet, SetAttribute, type SetOrMap } from './set.ts';
import { decodeTable, type Table } from './table.ts';
import type { Transaction } from './transaction.ts';

export interface NftablesSocketOptions {
  /** Must stay open as long as the socket. */
  readonly namespace?: NetworkNamespace | undefined;
}

export interface CommitOptions {
  /** Apply only if the ruleset still has this generation; else KERNEL_STALE, and nothing is applied. */
  readonly generation?: number | undefined;
}

export interface Commit {
  /**
   * The generation that the ruleset got by this transaction and no other, by which its notification is recognised.
   * Undefined if nothing changed by it, for example because all that was added was there, and if the first command
   * deletes or flushes a whole table.
   */
  readonly generation: number | undefined;
}

/** Elements of a stream that are handled before other work gets a turn. */
const ELEMENTS_PER_TURN = 4000;

/** nf_tables of one network namespace: transactions, and listings of what is there. */
export class NftablesSocket {
  readonly #namespace: NetworkNamespace | undefined;
  readonly #commits: NetlinkSocket;
  /** Apart from the commits: one that runs in the background must find its answers unread. */
  readonly #requests: NetlinkSocket;

  constructor(commits: NetlinkSocket, requests: NetlinkSocket, namespace?: NetworkNamespace) {
    this.#commits = commits;
    this.#requests = requests;
    this.#namespace = namespace;
  }

  static open({ namespace }: NftablesSocketOptions = {}): NftablesSocket {
    const commits = NetlinkSocket.open(Protocol.NETFILTER, { namespace });
    try {
      return new NftablesSocket(commits, NetlinkSocket.open(Protocol.NETFILTER, { namespace }), namespace);
    } catch (error) {
      commits.close();
      throw error;
    }
  }

  /**
   * Applies all of the transaction or nothing. Rejects with a BatchError that names the commands which were refused;
   * with KERNEL_STALE; or with KERNEL_OVERRUN if the answer was lost, after which what is there must be read again.
   * A large transaction is worked on by the kernel in the background. Commits run one after another.
   */
  async commit(transaction: Transaction, options: CommitOptions = {}): Promise<Commit> {
    if (transaction.isEmpty) return { generation: undefined };
    const first = this.#commits.reserveSequence(maxMessageCount(transaction));
    const batch = encodeBatch(transaction, first, options.generation);
    const { acks, messages } = await this.#commits.exchange(batch.bytes, batch.first, batch.count);
    const error = batchError(transaction, batch, acks);
    if (error) throw error;
    if (acks.length === 0) throw noAcknowledgement(transaction, batch);
    const announced = messages.find(message => nftMessageOf(message) === NftMessage.NEWGEN);
    return { generation: announced && decodeGeneration(announced)?.id };
  }

  /** The ruleset's generation. */
  generation(): number {
    const operation = 'get the generation';
    const replies = this.#requests.request(operation, messageType(NftMessage.GETGEN), 0, writer =>
      writer.struct(UNSPECIFIED_HEAD),
    );
    const generation = replies[0] && decodeGeneration(replies[0]);
    if (!generation) throw new KernelError('KERNEL_PROTOCOL', { operation, reason: 'no generation came' });
    return generation.id;
  }

  /** The tables of the families that are used here, or of one. */
  *listTables(family?: NftFamily): Generator<Table> {
    const head = family ? familyHead(family) : UNSPECIFIED_HEAD;
    const write = (writer: MessageWriter) => writer.struct(head);
    for (const message of this.#dump('list tables', NftMessage.GETTABLE, write)) {
      const table = decodeTable(message);
      if (table) yield table;
    }
  }

  *listChains(family: NftFamily, table: string): Generator<Chain> {
    const write = (writer: MessageWriter) => writer.struct(familyHead(family));
    for (const message of this.#dump(`list chains in ${family} ${table}`, NftMessage.GETCHAIN, write)) {
      const found = decodeChain(message);
      // The kernel takes no table as a filter.
      if (found?.table === table) yield found.chain;
    }
  }

  /** How often each chain of all tables is used: by its rules, and by rules that jump to it. */
  *listChainUses(
    family: NftFamily,
  ): Generator<{ readonly table: string; readonly name: string; readonly use: number }> {
    const write = (writer: MessageWriter) => writer.struct(familyHead(family));
    for (const message of this.#dump(`list chains of ${family}`, NftMessage.GETCHAIN, write)) {
      const found = decodeChainUse(message);
      if (found) yield found;
    }
  }

  /** Sets and maps, without their elements; anonymous ones too. */
  *listSets(family: NftFamily, table: string): Generator<SetOrMap> {
    const write = (writer: MessageWriter) => writer.struct(familyHead(family)).string(SetAttribute.TABLE, table);
    try {
      for (const message of this.#dump(`list sets in ${family} ${table}`, NftMessage.GETSET, write)) {
        const found = decodeSet(message);
        if (found?.table === table) yield found.set;
      }
    } catch (error) {
      // A table that is not there has no chains and no rules for the kernel, but for sets it is an error.
      if (!(error instanceof KernelError && error.errno === 'ENOENT')) throw error;
    }
  }

  /** The rules of one chain, or of all chains of the table, in their order. */
  *listRules(family: NftFamily, table: string, chain?: string): Generator<Rule> {
    const write = (writer: MessageWriter) => {
      writer.struct(familyHead(family)).string(RuleAttribute.TABLE, table);
      if (chain !== undefined) writer.string(RuleAttribute.CHAIN, chain);
    };
    for (const message of this.#dump(`list rules in ${family} ${table}`, NftMessage.GETRULE, write)) {
      const found = decodeRule(message);
      if (found?.table === table && (chain === undefined || found.rule.chain === chain)) yield found.rule;
    }
  }

  /** The elements of a set or map. Those of ranges come sorted, and only when all are read. */
  *listElements(family: NftFamily, table: string, set: SetOrMap): Generator<Element> {
    const parts: Element[] = [];
    for (const elements of this.#elementMessages(family, table, set)) {
      if (shapeOf(set) === 'pair') parts.push(...elements);
      else yield* elements;
    }
    yield* joinIntervals(parts);
  }

  /** The same for large ones: other work gets a turn in between. */
  async *streamElements(family: NftFamily, table: string, set: SetOrMap): AsyncGenerator<Element> {
    let handled = 0;
    for (const element of this.listElements(family, table, set)) {
      yield element;
      if (++handled % ELEMENTS_PER_TURN === 0) await nextTurn();
    }
  }

  close(): void {
    this.#commits.close();
    this.#requests.close();
  }

  *#elementMessages(family: NftFamily, table: string, set: SetOrMap): Generator<readonly Element[]> {
    const write = (writer: MessageWriter) =>
      writer
        .struct(familyHead(family))
        .string(ElementListAttribute.TABLE, table)
        .string(ElementListAttribute.SET, set.name);
    const operation = `list ${set.kind} ${family} ${table} ${set.name}`;
    for (const message of this.#dump(operation, NftMessage.GETSETELEM, write)) {
      yield decodeElements(message)?.elements ?? [];
    }
  }

  /**
   * Every dump has a socket of its own, because the kernel makes one at a time for a socket: a listing inside the loop
   * over another, or after one that was broken off, would be refused.
   */
  *#dump(operation: string, type: number, write: (writer: MessageWriter) => void): Generator<Message> {
    const socket = NetlinkSocket.open(Protocol.NETFILTER, { namespace: this.#namespace });
    try {
      yield* socket.dump(operation, messageType(type), write);
    } finally {
      socket.close();
    }
  }
}

function noAcknowledgement(transaction: Transaction, batch: Batch): KernelError {
  return new KernelError('KERNEL_OVERRUN', {
    operation: `commit ${batch.origins.length} messages to table ${transaction.family} ${transaction.table}`,
    reason: 'no acknowledgement came',
  });
}
