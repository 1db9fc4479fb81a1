import type { Node } from './node.ts';
import { readJson } from './read-json.ts';
import { readYaml } from './read-yaml.ts';

export type ReadDocument =
  | { readonly kind: 'json'; readonly node: Node }
  | { readonly kind: 'yaml'; readonly node: Node; readonly duplicates: readonly string[] };

/** What begins with a brace is JSON, and nothing else: such YAML is refused, as kube-proxy does. Throws a DocumentError. */
export function isJson(text: string): boolean {
  return /^[^\S\ufeff]*\{/.test(text);
}

export function readDocument(text: string): ReadDocument {
  if (isJson(text)) return { kind: 'json', node: readJson(text) };
  return { kind: 'yaml', ...readYaml(text) };
}
