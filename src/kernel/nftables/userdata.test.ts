import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MessageWriter, readAttributes, readMessages } from '../netlink/index.ts';
import { printDuration } from './duration.ts';
import { commentIn, encodeComment, printComment } from './userdata.ts';

function roundTrip(comment: string): string | undefined {
  const writer = new MessageWriter().begin(1, 0, 1);
  encodeComment(writer, 6, comment);
  const [message] = readMessages(writer.end().bytes);
  const [attribute] = message ? readAttributes(message.body) : [];
  return commentIn(attribute?.value);
}

test('KERNEL-1 a comment survives encoding and decoding, cut to 128 bytes but not within a character', () => {
  assert.equal(roundTrip('default/web:http'), 'default/web:http');
  assert.equal(roundTrip(''), '');
  assert.equal(roundTrip('x'.repeat(128)), 'x'.repeat(128));
  assert.equal(roundTrip('x'.repeat(300)), 'x'.repeat(128));
  assert.equal(roundTrip(`${'x'.repeat(127)}é`), 'x'.repeat(127));
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), text => {
      const comment = text.replaceAll('\0', '');
      assert.ok(comment.startsWith(roundTrip(comment) ?? 'no comment'));
    }),
  );
});

test('KERNEL-1 a printed comment has no character that would end its quoted string', () => {
  assert.equal(printComment('say "hi"\nthen go'), ` comment "say 'hi''then go"`);
  assert.equal(printComment(undefined), '');
});

test('KERNEL-1 durations print with the units of nft', () => {
  assert.equal(printDuration(10_800_000), '3h');
  assert.equal(printDuration(90_061_001), '1d1h1m1s1ms');
  assert.equal(printDuration(90_000), '1m30s');
  assert.equal(printDuration(0), '0s');
});
