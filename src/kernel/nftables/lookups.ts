import { KernelError } from '../errors.ts';
import type { Message, MessageWriter, NetlinkSocket } from '../netlink/index.ts';
import { type Chain, ChainAttribute, decodeChain } from './chain.ts';
import { decodeElements, type Element, ElementListAttribute, encodeElement } from './element.ts';
import type { NftFamily } from './family.ts';
import { familyHead, messageType, NftMessage } from './message.ts';
import { decodeRule, type Rule, RuleAttribute } from './rule.ts';
import { decodeSet, SetAttribute, type SetOrMap } from './set.ts';
import { decodeTable, type Table, TableAttribute } from './table.ts';

/**
 * Reads single objects of a table by their names and keys. The kernel looks each one up in a hash table, so the cost does
 * not depend on how much the table has. All functions return undefined if the object, or what it is in, does not exist.
 */
export class NftablesLookups {
  readonly #socket: NetlinkSocket;

  constructor(socket: NetlinkSocket) {
    this.#socket = socket;
  }

  table(family: NftFamily, name: string): Table | undefined {
    const reply = this.#get(`get table ${family} ${name}`, NftMessage.GETTABLE, writer =>
      writer.struct(familyHead(family)).string(TableAttribute.NAME, name),
    );
    return reply && decodeTable(reply);
  }

  chain(family: NftFamily, table: string, name: string): Chain | undefined {
    const reply = this.#get(`get chain ${family} ${table} ${name}`, NftMessage.GETCHAIN, writer =>
      writer.struct(familyHead(family)).string(ChainAttribute.TABLE, table).string(ChainAttribute.NAME, name),
    );
    return reply && decodeChain(reply)?.chain;
  }

  /** A set or map, without its elements. */
  set(family: NftFamily, table: string, name: string): SetOrMap | undefined {
    const reply = this.#get(`get set ${family} ${table} ${name}`, NftMessage.GETSET, writer =>
      writer.struct(familyHead(family)).string(SetAttribute.TABLE, table).string(SetAttribute.NAME, name),
    );
    return reply && decodeSet(reply)?.set;
  }

  /** The element with this key, of a set or map without ranges. */
  element(family: NftFamily, table: string, set: string, key: Buffer): Element | undefined {
    const reply = this.#get(`get element ${family} ${table} ${set}`, NftMessage.GETSETELEM, writer =>
      writeElementRequest(writer, family, table, set, key),
    );
    return reply && decodeElements(reply)?.elements[0];
  }

  /** The rules of a chain in order, at most `limit`. Empty if there is no such chain. */
  rules(family: NftFamily, table: string, chain: string, limit: number): readonly Rule[] {
    const rules: Rule[] = [];
    const write = (writer: MessageWriter) =>
      writer.struct(familyHead(family)).string(RuleAttribute.TABLE, table).string(RuleAttribute.CHAIN, chain);
    // The loop must not end early: the rest of the answer would stay in the socket.
    const operation = `list rules in ${family} ${table} ${chain}`;
    for (const message of this.#socket.dump(operation, messageType(NftMessage.GETRULE), write)) {
      const found = rules.length < limit ? decodeRule(message) : undefined;
      if (found?.table === table && found.rule.chain === chain) rules.push(found.rule);
    }
    return rules;
  }

  #get(operation: string, type: number, write: (writer: MessageWriter) => void): Message | undefined {
    try {
      return this.#socket.request(operation, messageType(type), 0, write)[0];
    } catch (error) {
      if (error instanceof KernelError && error.errno === 'ENOENT') return undefined;
      throw error;
    }
  }
}

/** The attributes come in nft's order. */
function writeElementRequest(writer: MessageWriter, family: NftFamily, table: string, set: string, key: Buffer): void {
  writer.struct(familyHead(family)).string(ElementListAttribute.SET, set).string(ElementListAttribute.TABLE, table);
  const list = writer.nest(ElementListAttribute.ELEMENTS);
  encodeElement(writer, 1, { kind: 'element', key }, 'key');
  writer.close(list);
}
