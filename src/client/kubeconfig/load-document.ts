import { readFileSync, statSync } from 'node:fs';
import { DocumentError, type Node, readYaml } from '../../lib/document/index.ts';
import { ApiError } from '../api-error.ts';
import { fileErrorText } from '../file-error-text.ts';

const MAX_BYTES = 4 << 20;

/** Reads a kubeconfig as plain values. Go reads it as YAML, and JSON is a part of YAML. */
export function loadDocument(file: string): unknown {
  const content = readContent(file);
  try {
    return plainValue(readYaml(content).node) ?? {};
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    throw new ApiError('configuration', `error loading config file "${file}": ${error.message}`, { cause: error });
  }
}

function readContent(file: string): string {
  checkSize(file);
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const text = `error loading config file "${file}": ${fileErrorText('open', file, error)}`;
    throw new ApiError('configuration', text, { cause: error });
  }
}

function checkSize(file: string): void {
  let size: number;
  try {
    ({ size } = statSync(file));
  } catch (error) {
    throw new ApiError('configuration', fileErrorText('stat', file, error), { cause: error });
  }
  if (size <= MAX_BYTES) return;
  throw new ApiError('configuration', `kubeconfig ${file}: is too long for a kubeconfig: ${size} bytes`);
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
