import { DocumentError } from './node.ts';
import { parseErrorText, scanErrorText } from './yaml-messages.ts';

/**
 * Checks the lines that begin with `%` before the first document. Go's parser knows YAML 1.1 only, refuses unknown
 * directives, and expects a document after them. Throws a DocumentError.
 */
export function checkDirectives(text: string): void {
  let hasVersion = false;
  let last = 0;
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split('\n')
    .entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    if (!line.startsWith('%')) {
      if (last > 0 && !/^---(?:\s|$)/.test(line)) throw parseError(index, 'did not find expected <document start>');
      return;
    }
    last = index + 1;
    const [, name = ''] = /^%(\w*)/.exec(line) ?? [];
    if (name === '') throw scanError(last, 'could not find expected directive name');
    if (name !== 'YAML' && name !== 'TAG') throw scanError(last, 'found unknown directive name');
    if (name !== 'YAML') continue;
    if (versionOf(line, last) !== '1.1') throw parseError(index, 'found incompatible YAML document');
    if (hasVersion) throw parseError(index, 'found duplicate %YAML directive');
    hasVersion = true;
  }
}

function versionOf(directive: string, line: number): string {
  const [, major = '', dot, minor = '', rest = ''] = /^%YAML[ \t]*([0-9]*)(\.?)([0-9]*)(.*)$/.exec(directive) ?? [];
  if (major === '') throw scanError(line, 'did not find expected version number');
  if (dot === '') throw scanError(line, "did not find expected digit or '.' character");
  if (minor === '') throw scanError(line, 'did not find expected version number');
  if (!/^[ \t]*(?:#.*)?$/.test(rest)) throw scanError(line, 'did not find expected comment or line break');
  return `${major}.${minor}`;
}

function scanError(line: number, message: string): DocumentError {
  return new DocumentError(scanErrorText(line, message));
}

/** Go's parser gives the number of the line before. */
function parseError(index: number, message: string): DocumentError {
  return new DocumentError(parseErrorText(index, message));
}
