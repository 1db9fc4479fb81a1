import type { Chain } from './chain.ts';
import { type Command, type ElementCommand, printCommand, type RuleHandle } from './command.ts';
import type { Element } from './element.ts';
import type { NftFamily } from './family.ts';
import type { Rule } from './rule.ts';
import type { SetOrMap } from './set.ts';
import type { Table } from './table.ts';

/** A rule that is there: one that was listed, or what is known of it. */
export type ListedRule = Pick<Rule, 'kind' | 'chain'> & { readonly handle: number };

/**
 * Commands for one table that are applied all or none. Collecting never fails; what the kernel thinks of them comes out
 * at the commit. As text it is the nft script that it is.
 */
export class Transaction {
  readonly family: NftFamily;
  readonly table: string;
  readonly #commands: Command[] = [];
  /** The last command for each set since a command that was not about elements. */
  readonly #run = new Map<string, { readonly verb: ElementCommand['verb']; readonly elements: Element[] }>();

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

  /** Adds the object, or a rule behind the others. What is there already stays as it is. */
  add(object: Table | Chain | SetOrMap | Rule): this {
    return this.#push(object.kind === 'rule' ? { verb: 'add', object } : { verb: 'add', object });
  }

  /** Adds an object that must not be there. */
  create(object: Table | Chain | SetOrMap): this {
    return this.#push({ verb: 'create', object });
  }

  /** Adds a rule in front of the others. */
  insert(rule: Rule): this {
    return this.#push({ verb: 'insert', object: rule });
  }

  /** Removes an object that must be there, with what is in it. */
  delete(object: Table | Chain | SetOrMap | ListedRule): this {
    return this.#push({ verb: 'delete', object: object.kind === 'rule' ? handleOf(object) : object });
  }

  /**
   * Removes an object whether it is there or not, as an addition and a removal, which every kernel can. A set that is
   * there must have the type that is given; a chain may be of another hook.
   */
  destroy(object: Table | Chain | SetOrMap): this {
    return this.add(bare(object)).delete(object);
  }

  /** Removes the rules of a chain or of all chains of a table, or the elements of a set. */
  flush(object: Table | Chain | SetOrMap): this {
    return this.#push({ verb: 'flush', object });
  }

  /** Adds elements; those that are there already must have the same data. */
  addElements(set: SetOrMap, elements: readonly Element[]): this {
    return this.#elements('add', set, elements);
  }

  /** Adds elements that must not be there. */
  createElements(set: SetOrMap, elements: readonly Element[]): this {
    return this.#elements('create', set, elements);
  }

  /** Removes elements, which must be there. Only their keys matter. */
  deleteElements(set: SetOrMap, elements: readonly Element[]): this {
    return this.#elements('delete', set, elements);
  }

  /** The script's lines; the only way to show a transaction of many elements without holding it as text. */
  *lines(): Generator<string> {
    for (const command of this.#commands) yield* printCommand(this.family, this.table, command);
  }

  toString(): string {
    let script = '';
    for (const line of this.lines()) script += `${line}\n`;
    return script;
  }

  #push(command: Command): this {
    this.#run.clear();
    this.#commands.push(command);
    return this;
  }

  /**
   * Elements of different sets do not depend on each other, so those of one set are put together until its verb changes
   * or an object comes between: fewer messages.
   */
  #elements(verb: ElementCommand['verb'], set: SetOrMap, elements: readonly Element[]): this {
    if (elements.length === 0) return this;
    const last = this.#run.get(set.name);
    if (last?.verb === verb) {
      for (const element of elements) last.elements.push(element);
      return this;
    }
    const own = elements.slice();
    this.#run.set(set.name, { verb, elements: own });
    this.#commands.push({ verb, object: { kind: 'elements', set, elements: own } });
    return this;
  }
}

function handleOf({ chain, handle }: ListedRule): RuleHandle {
  return { kind: 'rule-handle', chain, handle };
}

/** A base chain that is there refuses to be added with other properties, but not without any. */
function bare(object: Table | Chain | SetOrMap): Table | Chain | SetOrMap {
  return object.kind === 'chain' ? { kind: 'chain', name: object.name } : object;
}
