import type { Chain } from './chain.ts';
import { type Command, type ElementCommand, printCommand, type RuleHandle } from './command.ts';
import type { Element } from './element.ts';
import type { NftFamily } from './family.ts';
import type { Rule } from './rule.ts';
import type { SetOrMap } from './set.ts';
import type { Table } from './table.ts';

/** An existing rule, identified by its chain and handle. */
export type ListedRule = Pick<Rule, 'kind' | 'chain'> & { readonly handle: number };

/**
 * Commands for one table. The kernel applies all of them or none. Collecting commands never fails; errors occur at the
 * commit. The text of a transaction is an nft script.
 */
export class Transaction {
  readonly family: NftFamily;
  readonly table: string;
  readonly #commands: Command[] = [];
  /** The last element command for each set, since the last command of another kind. */
  readonly #mergeable = new Map<string, { readonly verb: ElementCommand['verb']; readonly elements: Element[] }>();

  constructor(family: NftFamily, table: string) {
    this.family = family;
    this.table = table;
  }

  get commands(): readonly Command[] {
    return this.#commands;
  }

  get isEmpty(): boolean {
    return this.#commands.length === 0;
  }

  /** Adds an object, or a rule after the others. An existing object stays as it is. */
  add(object: Table | Chain | SetOrMap | Rule): this {
    return this.#push(object.kind === 'rule' ? { verb: 'add', object } : { verb: 'add', object });
  }

  /** Adds an object that must not exist. */
  create(object: Table | Chain | SetOrMap): this {
    return this.#push({ verb: 'create', object });
  }

  /** Adds a rule before the others. */
  insert(rule: Rule): this {
    return this.#push({ verb: 'insert', object: rule });
  }

  /** Removes an object, which must exist, with its contents. */
  delete(object: Table | Chain | SetOrMap | ListedRule): this {
    return this.#push({ verb: 'delete', object: object.kind === 'rule' ? handleOf(object) : object });
  }

  /**
   * Removes an object if it exists. This adds and then deletes the object, which works with every kernel. An existing
   * set must have the given type. An existing chain can have another hook.
   */
  destroy(object: Table | Chain | SetOrMap): this {
    return this.add(withoutBase(object)).delete(object);
  }

  /** Removes the rules of a chain or of all chains of a table, or the elements of a set. */
  flush(object: Table | Chain | SetOrMap): this {
    return this.#push({ verb: 'flush', object });
  }

  /** Adds elements. Elements that exist already must have the same data. */
  addElements(set: SetOrMap, elements: readonly Element[]): this {
    return this.#elements('add', set, elements);
  }

  /** Adds elements that must not exist. */
  createElements(set: SetOrMap, elements: readonly Element[]): this {
    return this.#elements('create', set, elements);
  }

  /** Removes elements, which must exist. Only their keys matter. */
  deleteElements(set: SetOrMap, elements: readonly Element[]): this {
    return this.#elements('delete', set, elements);
  }

  /** Adds all commands of another transaction. */
  append(other: Transaction): this {
    for (const command of other.commands) {
      if (isElementCommand(command)) this.#elements(command.verb, command.object.set, command.object.elements);
      else this.#push(command);
    }
    return this;
  }

  /** The lines of the script. They allow to print a large transaction without the whole text in memory. */
  *lines(): Generator<string> {
    for (const command of this.#commands) yield* printCommand(this.family, this.table, command);
  }

  toString(): string {
    let script = '';
    for (const line of this.lines()) script += `${line}\n`;
    return script;
  }

  #push(command: Command): this {
    this.#mergeable.clear();
    this.#commands.push(command);
    return this;
  }

  /**
   * Elements of different sets do not depend on each other. So the elements of one set are merged into one command,
   * until the verb changes or a command about another object follows. This makes fewer messages.
   */
  #elements(verb: ElementCommand['verb'], set: SetOrMap, elements: readonly Element[]): this {
    if (elements.length === 0) return this;
    const last = this.#mergeable.get(set.name);
    if (last?.verb === verb) {
      for (const element of elements) last.elements.push(element);
      return this;
    }
    const own = elements.slice();
    this.#mergeable.set(set.name, { verb, elements: own });
    this.#commands.push({ verb, object: { kind: 'elements', set, elements: own } });
    return this;
  }
}

function isElementCommand(command: Command): command is ElementCommand {
  return command.object.kind === 'elements';
}

function handleOf({ chain, handle }: ListedRule): RuleHandle {
  return { kind: 'rule-handle', chain, handle };
}

/** The kernel refuses to add an existing base chain with other properties, but accepts it without properties. */
function withoutBase(object: Table | Chain | SetOrMap): Table | Chain | SetOrMap {
  return object.kind === 'chain' ? { kind: 'chain', name: object.name } : object;
}
