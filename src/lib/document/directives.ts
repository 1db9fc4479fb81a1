import { DocumentError } from './node.ts';
import { problemText, scanProblemText } from './yaml-words.ts';

/**
 * Lines that begin with `%`, before the first document. Of YAML there is version 1.1 only, other directives than its own
 * are refused, and a document must begin behind them. Throws a DocumentError.
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
      if (last > 0 && !/^---(?:\s|$)/.test(line)) throw problem(index, 'did not find expected <document start>');
      return;
    }
    last = index + 1;
    const [, name = ''] = /^%(\w*)/.exec(line) ?? [];
    if (name === '') throw scanProblem(last, 'could not find expected directive name');
    if (name !== 'YAML' && name !== 'TAG') throw scanProblem(last, 'found unknown directive name');
    if (name !== 'YAML') continue;
    if (versionOf(line, last) !== '1.1') throw problem(index, 'found incompatible YAML document');
    if (hasVersion) throw problem(index, 'found duplicate %YAML directive');
    hasVersion = true;
  }
}

function versionOf(directive: string, line: number): string {
  const [, major = '', dot, minor = '', rest = ''] = /^%YAML[ \t]*([0-9]*)(\.?)([0-9]*)(.*)$/.exec(directive) ?? [];
  if (major === '') throw scanProblem(line, 'did not find expected version number');
  if (dot === '') throw scanProblem(line, "did not find expected digit or '.' character");
  if (minor === '') throw scanProblem(line, 'did not find expected version number');
  if (!/^[ \t]*(?:#.*)?$/.test(rest)) throw scanProblem(line, 'did not find expected comment or line break');
  return `${major}.${minor}`;
}

function scanProblem(line: number, words: string): DocumentError {
  return new DocumentError(scanProblemText(line, words));
}

/** The parser tells the line before. */
function problem(index: number, words: string): DocumentError {
  return new DocumentError(problemText(index, words));
}
