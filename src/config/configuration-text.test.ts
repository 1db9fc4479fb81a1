import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configurationText } from './index.ts';

test('CONF-1 a file is UTF-8, or UTF-16 with a byte order mark', () => {
  assert.equal(configurationText(Buffer.from('mode: ipvs # é😀')), 'mode: ipvs # é😀');
  const utf16 = Buffer.from('\ufeffmode: ipvs # é😀', 'utf16le');
  assert.equal(configurationText(utf16), 'mode: ipvs # é😀');
  assert.equal(configurationText(Buffer.from(utf16).swap16()), 'mode: ipvs # é😀');
});

test('CONF-2 errors about wrong octets have the words of Go', () => {
  const cases: readonly [octets: readonly number[], words: string][] = [
    [[0xff], 'invalid leading UTF-8 octet'],
    [[0x80], 'invalid leading UTF-8 octet'],
    [[0xf8, 0x88, 0x80, 0x80, 0x80], 'invalid leading UTF-8 octet'],
    [[0xc3], 'incomplete UTF-8 octet sequence'],
    [[0xc3, 0x28], 'invalid trailing UTF-8 octet'],
    [[0xc0, 0x80], 'invalid length of a UTF-8 sequence'],
    [[0xe0, 0x80, 0x80], 'invalid length of a UTF-8 sequence'],
    [[0xed, 0xa0, 0x80], 'invalid Unicode character'],
    [[0xf4, 0x90, 0x80, 0x80], 'invalid Unicode character'],
  ];
  for (const [octets, words] of cases) {
    const bytes = Buffer.concat([Buffer.from('mode: é'), Buffer.from(octets)]);
    assert.throws(() => configurationText(bytes), { message: `failed to decode: yaml: ${words}` });
  }
  assert.throws(() => configurationText(Buffer.from([0xff, 0xfe, 0x41])), {
    message: 'failed to decode: yaml: incomplete UTF-16 character',
  });
});

test('CONF-1 in JSON, U+FFFD replaces wrong octets', () => {
  assert.equal(configurationText(Buffer.from([0x7b, 0x22, 0xff, 0x22])), '{"\ufffd"');
});
