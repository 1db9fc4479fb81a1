import { goQuote } from '../go-quote.ts';
import type { Node } from './node.ts';

/** A value as Go's `%#v` formats it. Messages about keys have this form. */
export function goSyntax(node: Node, isInside = false): string {
  switch (node.kind) {
    case 'null':
      return isInside ? 'interface {}(nil)' : '<nil>';
    case 'bool':
      return String(node.value);
    case 'number':
      return node.text;
    case 'string':
      return goQuote(node.text);
    case 'array':
      return `[]interface {}{${node.items.map(item => goSyntax(item, true)).join(', ')}}`;
    case 'object': {
      const members = node.members.map(({ key, value }) => `${goQuote(key)}:${goSyntax(value, true)}`);
      return `map[interface {}]interface {}{${members.join(', ')}}`;
    }
  }
}
