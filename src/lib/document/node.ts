import { goJson } from '../go-json.ts';

/**
 * A JSON value as it was written: numbers keep their digits, objects keep the order of their keys and duplicate keys.
 * Messages depend on all of them.
 */
export type Node =
  | { readonly kind: 'null' }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'array'; readonly items: readonly Node[] }
  | { readonly kind: 'object'; readonly members: readonly Member[] };

export interface Member {
  readonly key: string;
  readonly value: Node;
}

export const NULL: Node = { kind: 'null' };

/** A text that is neither YAML nor JSON. The message is the one of Go's parsers. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
}

export function nodeText(node: Node): string {
  switch (node.kind) {
    case 'null':
      return 'null';
    case 'bool':
      return String(node.value);
    case 'number':
      return node.text;
    case 'string':
      return goJson(node.text);
    case 'array':
      return `[${node.items.map(nodeText).join(',')}]`;
    case 'object':
      return `{${node.members.map(({ key, value }) => `${goJson(key)}:${nodeText(value)}`).join(',')}}`;
  }
}
