import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rememberSecret } from '../../lib/secrets.ts';
import { Logging } from './logging.ts';
import { RecentLines } from './recent-lines.ts';

describe('the recent lines of the log', () => {
  test('INSPECT-13 the oldest lines go when there are too many', () => {
    const recent = new RecentLines(3, 1000);
    for (let i = 0; i < 20; i++) recent.add(`line ${i}\n`);
    assert.deepEqual(recent.all(), ['line 17', 'line 18', 'line 19']);
  });

  test('INSPECT-13 the oldest lines go when they are too long together, and a line that is too long itself', () => {
    const recent = new RecentLines(100, 10);
    for (const line of ['aaaa\n', 'bbbb\n', 'cccc\n']) recent.add(line);
    assert.deepEqual(recent.all(), ['bbbb', 'cccc']);
    recent.add(`${'d'.repeat(11)}\n`);
    assert.deepEqual(recent.all(), []);
    recent.add('eeee\n');
    assert.deepEqual(recent.all(), ['eeee']);
  });

  test('INSPECT-13 INSPECT-8 the log keeps what it wrote, in its format and without secrets', () => {
    let written = '';
    const stream = { write: (text: string) => (written += text) };
    const logging = new Logging({ stdout: stream, stderr: stream });
    rememberSecret('a-secret-of-this-test');
    logging.log.info('x', 'first', { token: 'a-secret-of-this-test' });
    logging.log.v(5, 'x', 'not written');
    logging.log.error('x', 'second', { err: 'of\ntwo lines' });
    assert.deepEqual(
      logging
        .recentLines()
        .map(line => `${line}\n`)
        .join(''),
      written,
    );
    assert.match(written, /"first" token="<redacted>"/);
    assert.equal(logging.recentLines().length, 2);
  });
});
