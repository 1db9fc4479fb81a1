import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { DEFAULT_LOGGING, Logging, type LoggingSettings } from './index.ts';

function logging(settings: Partial<LoggingSettings>) {
  const out: string[] = [];
  const err: string[] = [];
  const clock = new ManualClock();
  const streams = {
    stdout: { write: (text: string) => out.push(text) },
    stderr: { write: (text: string) => err.push(text) },
  };
  const all = new Logging(streams, { ...DEFAULT_LOGGING, ...settings }, clock);
  const messages = (texts: readonly string[]) =>
    [...texts.join('').matchAll(/(?:\] |"msg":)"(\w+)"/g)].map(([, word]) => word);
  return { logging: all, clock, out: () => messages(out), err: () => messages(err), writes: () => out.length };
}

const threeLines = ({ log }: Logging) => {
  log.info('a', 'one');
  log.warning('a', 'two');
  log.error('a', 'three');
};

describe('log streams', () => {
  test('LOG-6 with one stream every line goes to stderr at once', () => {
    const { logging: all, out, err } = logging({ infoBufferSize: 1000 });
    threeLines(all);
    assert.deepEqual([out(), err()], [[], ['one', 'two', 'three']]);
  });

  test('LOG-6 with split streams information goes to stdout, and in JSON warnings are information', () => {
    const text = logging({ splitStream: true });
    threeLines(text.logging);
    assert.deepEqual([text.out(), text.err()], [['one'], ['two', 'three']]);
    const json = logging({ splitStream: true, format: 'json' });
    threeLines(json.logging);
    assert.deepEqual([json.out(), json.err()], [['one', 'two'], ['three']]);
  });

  test('LOG-7 the buffer is written after the flush period, and by flush()', async () => {
    const { logging: all, clock, out, writes } = logging({ splitStream: true, infoBufferSize: 1000 });
    threeLines(all);
    all.log.info('a', 'four');
    assert.deepEqual(out(), []);
    await clock.advance(4999);
    assert.deepEqual(out(), []);
    await clock.advance(1);
    assert.deepEqual([out(), writes(), clock.pending], [['one', 'four'], 1, 0]);
    all.log.info('a', 'five');
    all.flush();
    assert.deepEqual([out().at(-1), clock.pending], ['five', 0]);
  });

  test('LOG-7 a full buffer is written before a line that does not fit, and a line that is too large is not buffered', () => {
    const { logging: all, out } = logging({ splitStream: true, infoBufferSize: 100 });
    all.log.info('a', 'one');
    all.log.info('a', 'two');
    assert.deepEqual(out(), []);
    all.log.info('a', 'three');
    assert.deepEqual(out(), ['one', 'two']);
    all.log.info('a', 'x'.repeat(100));
    assert.deepEqual(out().slice(2), ['three', 'x'.repeat(100)]);
  });

  test('LOG-4 new settings take effect at once, and the old buffer is written', () => {
    const { logging: all, out, err } = logging({ splitStream: true, infoBufferSize: 1000 });
    all.log.info('a', 'one');
    all.log.v(1, 'a', 'hidden');
    all.configure({ ...DEFAULT_LOGGING, verbosity: 1 });
    all.log.v(1, 'a', 'two');
    assert.deepEqual(
      [out(), err(), all.log.isEnabled(1, 'a'), all.log.isEnabled(2, 'a')],
      [['one'], ['two'], true, false],
    );
    all.setVerbosity(2);
    all.setVModule([{ filePattern: 'b', verbosity: 5 }]);
    assert.deepEqual([all.verbosity, all.log.isEnabled(2, 'a'), all.log.isEnabled(5, 'b')], [2, true, true]);
  });
});
