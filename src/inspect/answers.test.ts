import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HttpStream } from '../observe/http/index.ts';
import { linesAnswer, type Rows } from './answers.ts';

function partsOf(rows: Rows, signOfLifeMs?: number): AsyncIterator<string | Uint8Array> {
  const { body } = linesAnswer('pointsman.rows/v1', rows, {}, signOfLifeMs);
  return (body as HttpStream)[Symbol.asyncIterator]();
}

describe('streamed lines', () => {
  test('INSPECT-5 a stream that waits shows again and again that it is alive, and ends with its rows', async () => {
    let send: (rows: readonly object[]) => void = () => {};
    const parts = partsOf(
      (async function* () {
        yield await new Promise<readonly object[]>(resolve => {
          send = resolve;
        });
      })(),
      10,
    );
    assert.equal((await parts.next()).value, '{"schema":"pointsman.rows/v1"}\n');
    for (let i = 0; i < 2; i++) assert.equal((await parts.next()).value, '\n');
    send([{ a: 1 }, { a: 2 }]);
    let { value, done } = await parts.next();
    // On a busy machine there may be further signs.
    while (value === '\n') ({ value, done } = await parts.next());
    assert.deepEqual([value, done], ['{"a":1}\n{"a":2}\n', false]);
    assert.equal((await parts.next()).done, true);
  });

  test('INSPECT-5 INSPECT-7 a long list is made in small parts', async () => {
    const rows = Array.from({ length: 10_000 }, (_, i) => ({ text: 'x'.repeat(100), i }));
    const parts = partsOf(rows);
    let count = 0;
    for (let next = await parts.next(); !next.done; next = await parts.next()) {
      assert.ok(next.value.length < 34_000);
      count++;
    }
    assert.ok(count > 30);
  });

  test('INSPECT-5 a reader that stops ends the rows', async () => {
    let hasEnded = false;
    const parts = partsOf(
      (async function* () {
        try {
          for (;;) yield [{ a: 1 }];
        } finally {
          hasEnded = true;
        }
      })(),
    );
    await parts.next();
    await parts.next();
    await parts.return?.();
    assert.ok(hasEnded);
  });
});
