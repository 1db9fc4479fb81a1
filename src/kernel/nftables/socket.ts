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
import { NftablesLookups } from './lookups.ts';
import { familyHead, messageType, NftMessage, nftMessageOf, UNSPECIFIED_HEAD } from './message.ts';
import { decodeRule, type Rule, RuleAttribute } from './rule.ts';
import { decodeSet, SetAttribute, type SetOrMap } from './set.ts';
import { decodeTable, type Table } from './table.ts';
import type { Transaction } from './transaction.ts';

export interface NftablesSocketOptions {
  /** Must stay open as long as the socket. */
  readonly namespace?: NetworkNamespace | undefined;
  /** The size of the buffer for answers to commits, in bytes. Tests make it so small that the kernel drops answers. */
  readonly receiveBuffer?: number | undefined;
}

export interface CommitOptions {
  /** Apply only if the ruleset still has this generation. Otherwise throw KERNEL_STALE and apply nothing. */
  readonly generation?: number | undefined;
}

export interface Commit {
  /**
   * The generation that this transaction gave to the ruleset. It identifies the notification of the transaction.
   * Undefined if the transaction changed nothing, for example because all objects existed already. Also undefined if
   * the first command deletes or flushes a whole table.
   */
  readonly generation: number | undefined;
}

/** How many elements a stream handles before it lets other work run. */
const ELEMENTS_PER_TURN = 4000;

/** nf_tables of one network namespace: commits transactions and lists objects. */
export class NftablesSocket {
  /** Reads single objects. */
  readonly lookups: NftablesLookups;
  readonly #namespace: NetworkNamespace | undefined;
  readonly #commits: NetlinkSocket;
  /** A separate socket, so that a request does not read the answers to a commit that runs in the background. */
  readonly #requests: NetlinkSocket;

  constructor(commits: NetlinkSocket, requests: NetlinkSocket, namespace?: NetworkNamespace) {
    this.#commits = commits;
    this.#requests = requests;
    this.lookups = new NftablesLookups(requests);
    this.#namespace = namespace;
  }

  static open({ namespace, receiveBuffer }: NftablesSocketOptions = {}): NftablesSocket {
    const commits = NetlinkSocket.open(Protocol.NETFILTER, { namespace, receiveBuffer });
    try {
      return new NftablesSocket(commits, NetlinkSocket.open(Protocol.NETFILTER, { namespace }), namespace);
    } catch (error) {
      commits.close();
      throw error;
    }
  }

  /**
   * Applies all of the transaction or nothing. Throws a BatchError with the commands that the kernel refused, or
   * KERNEL_STALE, or KERNEL_OVERRUN. After KERNEL_OVERRUN the outcome is unknown, so the caller must list the objects
   * again. A large transaction is sent in the background. Commits run one after another.
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

  /** The current generation of the ruleset. */
  generation(): number {
    const operation = 'get the generation';
    const replies = this.#requests.request(operation, messageType(NftMessage.GETGEN), 0, writer =>
      writer.struct(UNSPECIFIED_HEAD),
    );
    const generation = replies[0] && decodeGeneration(replies[0]);
    if (!generation)
      throw new KernelError('KERNEL_PROTOCOL', { operation, reason: 'the answer contains no generation' });
    return generation.id;
  }

  /** The tables of all supported families, or of one family. */
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
      // The kernel does not filter chains by table.
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

  /** The sets and maps, including anonymous ones, without their elements. */
  *listSets(family: NftFamily, table: string): Generator<SetOrMap> {
    const write = (writer: MessageWriter) => writer.struct(familyHead(family)).string(SetAttribute.TABLE, table);
    try {
      for (const message of this.#dump(`list sets in ${family} ${table}`, NftMessage.GETSET, write)) {
        const found = decodeSet(message);
        if (found?.table === table) yield found.set;
      }
    } catch (error) {
      // For a missing table the kernel returns no chains and no rules, but for sets it returns an error.
      if (!(error instanceof KernelError && error.errno === 'ENOENT')) throw error;
    }
  }

  /** The rules of one chain, or of all chains of the table, in order. */
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

  /** The elements of a set or map. Ranges are sorted, so the first one is yielded after all have been read. */
  *listElements(family: NftFamily, table: string, set: SetOrMap): Generator<Element> {
    const parts: Element[] = [];
    for (const elements of this.#elementMessages(family, table, set)) {
      if (shapeOf(set) === 'pair') parts.push(...elements);
      else yield* elements;
    }
    yield* joinIntervals(parts);
  }

  /** The same as `listElements`, but it lets other work run in between. For large sets. */
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
   * Opens a socket for each dump, because the kernel runs only one dump at a time for a socket. It would refuse a dump
   * inside the loop over another dump, or after a dump that ended early.
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
    reason: 'the kernel sent no acknowledgement',
  });
}
