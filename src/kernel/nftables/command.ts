import { type Chain, printChainBody } from './chain.ts';
import { type Element, type ElementPart, printElement } from './element.ts';
import type { NftFamily } from './family.ts';
import { printRuleBody, type Rule } from './rule.ts';
import { printSetBody, type SetOrMap } from './set.ts';
import { printTableBody, type Table } from './table.ts';

/**
 * One line of an nft script, with nft's verbs. `add` accepts an object that exists already, `create` does not. `flush`
 * of a table removes the rules of all its chains.
 */
export type Command =
  | { readonly verb: 'add' | 'create' | 'flush'; readonly object: Table | Chain | SetOrMap }
  | { readonly verb: 'delete'; readonly object: Table | Chain | SetOrMap | RuleHandle }
  | { readonly verb: 'add' | 'insert'; readonly object: Rule }
  | ElementCommand;

/** An existing rule. Rules have no names, so the kernel's handle identifies it. */
export interface RuleHandle {
  readonly kind: 'rule-handle';
  readonly chain: string;
  readonly handle: number;
}

export interface ElementCommand {
  readonly verb: 'add' | 'create' | 'delete';
  readonly object: SetElements;
}

export interface SetElements {
  readonly kind: 'elements';
  readonly set: SetOrMap;
  readonly elements: readonly Element[];
}

/** The lines of the script: one line, or one line per element. */
export function* printCommand(family: NftFamily, table: string, command: Command): Generator<string> {
  const { verb, object } = command;
  if (object.kind === 'elements') {
    for (const element of object.elements) yield printElementCommand(family, table, verb, object.set, element);
    return;
  }
  yield `${verb} ${printName(family, table, object)}${printBody(family, verb, object)}`;
}

/** `add element ip kube-proxy service-ips { 10.96.0.10 . tcp . 80 : goto pick-3 }` */
export function printElementCommand(
  family: NftFamily,
  table: string,
  verb: Command['verb'],
  set: SetOrMap,
  element: Element,
): string {
  return `${verb} element ${family} ${table} ${set.name} { ${printElementOf(set, element, partOf(verb))} }`;
}

export function partOf(verb: Command['verb']): ElementPart {
  return verb === 'delete' ? 'key' : 'whole';
}

/** Prints an element with the types of its set. */
export function printElementOf(set: SetOrMap, element: Element, part: ElementPart): string {
  return printElement(set.type, set.kind === 'map' ? set.data : [], element, part);
}

/** `chain ip kube-proxy services`: the name of the object in errors and scripts. */
export function printName(family: NftFamily, table: string, object: Command['object']): string {
  switch (object.kind) {
    case 'table':
      return `table ${object.family} ${object.name}`;
    case 'chain':
    case 'set':
    case 'map':
      return `${object.kind} ${family} ${table} ${object.name}`;
    case 'rule':
    case 'rule-handle':
      return `rule ${family} ${table} ${object.chain}`;
    case 'elements':
      return `${object.set.kind} ${family} ${table} ${object.set.name}`;
  }
}

function printBody(family: NftFamily, verb: Command['verb'], object: Exclude<Command['object'], SetElements>): string {
  if (object.kind === 'rule-handle') return ` handle ${object.handle}`;
  if (verb === 'delete' || verb === 'flush') return '';
  switch (object.kind) {
    case 'table':
      return printTableBody(object);
    case 'chain':
      return printChainBody(object);
    case 'set':
    case 'map':
      return printSetBody(object);
    case 'rule':
      return printRuleBody(family, object);
  }
}
