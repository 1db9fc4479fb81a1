import type { Node } from './node.ts';
import { readJson } from './read-json.ts';
import { readYaml } from './read-yaml.ts';

export type ReadDocument =
  | { readonly kind: 'json'; readonly node: Node }
  | { readonly kind: 'yaml'; readonly node: Node; readonly duplicates: readonly string[] };

/** As for kube-proxy, a text that begins with a brace is JSON. YAML that begins with a brace is refused. */
export function isJson(text: string): boolean {
  return /^[^\S\ufeff]*\{/.test(text);
}

/** Throws a DocumentError. */
export function readDocument(text: string): ReadDocument {
  if (isJson(text)) return { kind: 'json', node: readJson(text) };
  return { kind: 'yaml', ...readYaml(text) };
}
