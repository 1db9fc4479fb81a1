import { DocumentError, type Node, readYaml } from '../../lib/document/index.ts';
import { ApiError } from '../api-error.ts';

/** What a kubeconfig says, as Go reads it: always as YAML, of which JSON is a part. */
export function parseKubeconfig(file: string, content: string): unknown {
  try {
    return plainValue(readYaml(content).node) ?? {};
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    throw new ApiError('configuration', `error loading config file "${file}": ${error.message}`, { cause: error });
  }
}

function plainValue(node: Node): unknown {
  switch (node.kind) {
    case 'null':
      return null;
    case 'bool':
      return node.value;
    case 'number':
      return Number(node.text);
    case 'string':
      return node.text;
    case 'array':
      return node.items.map(plainValue);
    case 'object':
      return Object.fromEntries(node.members.map(({ key, value }) => [key, plainValue(value)]));
  }
}
