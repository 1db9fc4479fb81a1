import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { InputFile, type ProgramInput } from './input-file.ts';

function content(input: ProgramInput): Buffer {
  const file = InputFile.create(input);
  try {
    const bytes = readFileSync(`/proc/self/fd/${file.fd}`);
    assert.equal(file.size, bytes.length);
    assert.equal(file.text(), bytes.toString());
    assert.equal([...file.lines()].join('\n'), bytes.toString().replace(/\n$/, ''));
    return bytes;
  } finally {
    file.close();
  }
}

test('KERNEL-9 an input file holds text, bytes, or pieces of both', () => {
  assert.deepEqual(content('one\ntwo\n'), Buffer.from('one\ntwo\n'));
  assert.deepEqual(content(new Uint8Array([65, 10])), Buffer.from('A\n'));
  assert.deepEqual(content(['a', Buffer.from('b'), '', 'c\n']), Buffer.from('abc\n'));
  assert.deepEqual(content(''), Buffer.alloc(0));
});

test('KERNEL-9 text that is longer than a block is never split within a character', () => {
  for (const shift of ['', 'x', 'xy', 'xyz']) {
    const text = shift + '\u{1f682}ä€'.repeat(20_000);
    assert.ok(content(text).equals(Buffer.from(text)));
    assert.ok(content([text, Buffer.alloc(100_000, 'y'), text]).equals(Buffer.from(text + 'y'.repeat(100_000) + text)));
  }
});

test('KERNEL-9 any pieces of text are read back unchanged', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom(...'a\nü€\u{1f682}'), maxLength: 200 })), pieces => {
      const once = (function* () {
        yield* pieces;
      })();
      assert.deepEqual(content(once), Buffer.from(pieces.join('')));
    }),
  );
});

test('KERNEL-9 a source of pieces that throws leaves no descriptor open', () => {
  const before = InputFile.create('');
  before.close();
  const failing = (function* (): Generator<string> {
    yield 'x';
    throw new Error('no more');
  })();
  assert.throws(() => InputFile.create(failing), { message: 'no more' });
  const after = InputFile.create('');
  after.close();
  assert.equal(after.fd, before.fd);
});
