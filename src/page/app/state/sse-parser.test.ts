import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SseMessage, SseParser } from './sse-parser.ts';

const STREAM = `: hello

event: status
data: {"name":"größe 🚉"}

data: one
data:two

event: empty

id: 7
retry: 10
event:relist\r
data: {}\r
\r
data: never complete`;

const MESSAGES: readonly SseMessage[] = [
  { event: 'status', data: '{"name":"größe 🚉"}' },
  { event: 'message', data: 'one\ntwo' },
  { event: 'relist', data: '{}' },
];

/** Decodes as the page does. */
function parse(parts: readonly Uint8Array[]): readonly SseMessage[] {
  const decoder = new TextDecoder();
  const parser = new SseParser();
  return parts.flatMap(part => parser.push(decoder.decode(part, { stream: true })));
}

test('PAGE-31 a stream is read the same wherever its parts are cut', () => {
  const bytes = new TextEncoder().encode(STREAM);
  assert.deepEqual(parse([bytes]), MESSAGES);
  for (let at = 0; at <= bytes.length; at++) {
    assert.deepEqual(parse([bytes.subarray(0, at), bytes.subarray(at)]), MESSAGES, `cut at ${at}`);
  }
  assert.deepEqual(parse([...bytes].map(byte => Uint8Array.of(byte))), MESSAGES, 'every byte alone');
});
