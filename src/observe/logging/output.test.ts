import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { Output } from './output.ts';

function open(size: number) {
  const clock = new ManualClock();
  const written: string[] = [];
  const output = new Output({ write: text => written.push(text) }, size, 5000, clock);
  return { clock, written, output };
}

describe('LOG-7 buffered output', () => {
  test('the buffer is written after each flush period in which a line came', async () => {
    const { clock, written, output } = open(100);
    for (const line of ['one', 'two']) {
      output.write(line);
      await clock.advance(5000);
    }
    assert.deepEqual(written, ['one', 'two']);
  });

  test('lines that fill the buffer exactly wait, and the next line causes a write', () => {
    const { written, output } = open(4);
    output.write('ab');
    output.write('cd');
    assert.deepEqual(written, []);
    output.write('e');
    assert.deepEqual(written, ['abcd']);
  });

  test('the buffer is empty after a write', () => {
    const { written, output } = open(4);
    output.write('abc');
    output.flush();
    output.write('d');
    output.write('e');
    assert.deepEqual(written, ['abc']);
  });

  test('the size of the buffer counts bytes, not characters', () => {
    const { written, output } = open(5);
    output.write('€€');
    assert.deepEqual(written, ['€€']);
  });
});
