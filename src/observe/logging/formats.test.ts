import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { DEFAULT_LOGGING, type Fields, Logging } from './index.ts';

const TIME = new Date(2026, 10, 5, 9, 8, 7, 6).getTime();

function lines(format: 'text' | 'json', write: (logging: Logging) => void): string {
  const out: string[] = [];
  const streams = {
    stdout: { write: () => assert.fail('every line goes to stderr') },
    stderr: { write: (t: string) => out.push(t) },
  };
  write(new Logging(streams, { ...DEFAULT_LOGGING, format, verbosity: 2 }, new ManualClock(TIME)));
  return out.join('');
}

describe('log in text', () => {
  const place = `1105 09:08:07.006000 ${String(process.pid).padStart(7)} proxy.ts:1]`;

  test("LOG-1 a line has klog's form: severity, date, time, process, source, message, fields", () => {
    const text = lines('text', ({ log }) => {
      log.info('proxy', 'Synced "rules"', { ports: 3, family: 'IPv4', gone: undefined, ok: true });
      log.warning('proxy', 'Slow');
      log.v(2, 'proxy', 'Detail', { part: 0.5 });
      log.plain(1, 'some/folder/proxy', 'FLAG: --v="2"');
    });
    assert.equal(
      text,
      `I${place} "Synced \\"rules\\"" ports=3 family="IPv4" ok=true\nW${place} "Slow"\nI${place} "Detail" part=0.5\nI${place} FLAG: --v="2"\n`,
    );
  });

  test('LOG-21 a line has the file and the line that the build gave its source', () => {
    const source = 'server start.ts:23';
    assert.match(
      lines('text', ({ log }) => log.info(source, 'Text')),
      / start\.ts:23\] "Text"\n$/,
    );
    assert.match(
      lines('json', ({ log }) => log.info(source, 'Text')),
      /,"caller":"start\.ts:23",/,
    );
  });

  const values: [what: string, fields: Fields, text: string][] = [
    ['the error comes first', { a: 1, err: new Error('no "way"') }, ' err="no \\"way\\"" a=1'],
    ['a text of several lines is indented', { text: 'one\n two', b: 'x' }, ' text=<\n\tone\n\t two\n > b="x"'],
    ['a line break at the end is not doubled', { text: 'one\n' }, ' text=<\n\tone\n >'],
    ['objects and lists are JSON', { o: { name: 'a', list: [1] }, l: ['x'] }, ' o={"name":"a","list":[1]} l=["x"]'],
    ['an Error in an object is its message', { o: { why: new Error('x') } }, ' o={"why":"x"}'],
    ['maps and sets are JSON', { m: new Map([['a', true]]), s: new Set([1]) }, ' m={"a":true} s=[1]'],
    ['integers of any size have no quotes', { n: 10n, z: null }, ' n=10 z=null'],
    ["characters that are not printable are escaped as Go's %q does", { s: '\x00\u200b' }, ' s="\\x00\\u200b"'],
  ];
  for (const [what, fields, text] of values) {
    test(`LOG-2 ${what}`, () =>
      assert.equal(
        lines('text', ({ log }) => log.error('proxy', 'Failed', fields)),
        `E${place} "Failed"${text}\n`,
      ));
  }

  test('LOG-2 a value that JSON cannot hold does not throw', () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    assert.match(
      lines('text', ({ log }) => log.info('proxy', 'Odd', { circle })),
      / circle="<internal error: /,
    );
  });
});

describe('control characters', () => {
  const evil = 'x\r\x1b[2J\x9b1m\u202ey';

  test('LOG-10 no text format writes control characters', () => {
    const text = lines('text', ({ log }) => {
      log.info('proxy', evil, { one: evil, several: `${evil}\nE1115 00:00:00 forged`, list: [evil] });
      log.plain(1, 'proxy', evil);
    });
    assert.doesNotMatch(text, /[^\P{C}\t\n]/u);
    assert.doesNotMatch(text, /^E/m);
    assert.match(text, /several=<\n\tx\\r\\x1b\[2J\\u009b1m\\u202ey\n\tE1115/);
  });

  test('LOG-10 JSON has escapes for control characters, and keeps the values', () => {
    const text = lines('json', ({ log }) => log.info('proxy', evil, { evil }));
    assert.doesNotMatch(text, /[^\P{C}\n]/u);
    assert.deepEqual([JSON.parse(text).msg, JSON.parse(text).evil], [evil, evil]);
  });
});
const LONG = 'x'.repeat(1 << 20);
const HOSTILE = '\x1b[2J\x9b1m\u202e\x7f';

for (const format of ['text', 'json'] as const) {
  const line = (fields: Fields, message = 'Odd') => lines(format, ({ log }) => log.error('proxy', message, fields));
  const many = (count: number) => Array.from({ length: count }, (_, i) => [`k${i}`, LONG] as const);

  test(`LOG-11 no value makes a long line (${format})`, () => {
    const values: Fields[] = [
      { name: LONG },
      { err: new Error(LONG) },
      { lines: 'x\n'.repeat(1 << 20) },
      { list: Array(1 << 20).fill('x') },
      { list: Array(100).fill(Array(100).fill(LONG)) },
      { object: Object.fromEntries(many(1000)) },
      { map: new Map([[LONG, new Set([LONG])]]) },
    ];
    for (const fields of values) assert.ok(line(fields).length < 20_000, `${line(fields).length}`);
    assert.ok(line({}, LONG).length < 20_000);
    assert.ok(lines(format, ({ log }) => log.plain(0, 'proxy', LONG)).length < 20_000);
    assert.ok(line(Object.fromEntries(many(10_000))).length < 300_000);
  });

  test(`LOG-11 a value that is cut says so (${format})`, () => {
    assert.match(line({ name: LONG }), /name"?[=:]"x+… \(1048576 characters\)"/);
    assert.match(line({ list: Array(1000).fill(1) }), /"?list"?[=:]\[1,[1,]+,"… 900 more"\]/);
    assert.match(line({ object: Object.fromEntries(many(1000).map(([key]) => [key, 1])) }), /"k99":1,"…":"900 more"}/);
    assert.match(line(Object.fromEntries(many(70))), /k63.*"?fieldsLeftOut"?[=:]6\b/);
    assert.doesNotMatch(line(Object.fromEntries(many(70))), /k64/);
  });

  test(`LOG-10 no control character reaches the log (${format})`, () => {
    const text = [
      line({ name: HOSTILE, list: [HOSTILE], object: { [HOSTILE]: HOSTILE }, err: new Error(HOSTILE) }, HOSTILE),
      line({ name: `one\n${HOSTILE}\r\ntwo` }),
      lines(format, ({ log }) => log.plain(0, 'proxy', HOSTILE)),
    ].join('');
    assert.doesNotMatch(text, /[^\P{C}\n\t]/u);
  });
}

describe('log in JSON', () => {
  const json = (write: (logging: Logging) => void) => lines('json', write);
  const head = `{"ts":${TIME},"caller":"proxy.ts:1"`;

  test('LOG-3 each line is one JSON object, with the verbosity unless it is an error, and the error last', () => {
    assert.equal(
      json(({ log }) => {
        log.info('proxy', 'a', { count: 1, text: 'x\ny' });
        log.v(2, 'proxy', 'b');
        log.warning('proxy', 'c');
        log.error('proxy', 'd', { err: new Error('fail'), count: 1 });
        log.plain(1, 'proxy', 'FLAG: --v="2"');
      }),
      [
        `${head},"msg":"a","v":0,"count":1,"text":"x\\ny"}`,
        `${head},"msg":"b","v":2}`,
        `${head},"msg":"c","v":0}`,
        `${head},"msg":"d","count":1,"err":"fail"}`,
        `${head},"msg":"FLAG: --v=\\"2\\"","v":1}`,
        '',
      ].join('\n'),
    );
  });
});
