import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { bytes, enveloped, text, watchFrame } from '../../../test/support/protobuf-writer.ts';
import { decodeProtobufBookmark } from './bookmark.ts';
import { decodeEnvelope } from './envelope.ts';
import { ListBody } from './list-body.ts';
import { decodeWatchEvent } from './watch-event.ts';
import { WatchFrames } from './watch-frames.ts';

const LIST = readFileSync('src/api/protobuf/recorded/services.pb');
const WATCH = readFileSync('src/api/protobuf/recorded/services.watch.pb');

interface Pushed {
  push(chunk: Uint8Array, emit: (bytes: Buffer) => void): void;
}

/** What comes out when the bytes come in chunks of this size. */
function outputs(stream: Pushed, input: Uint8Array, size: number): string[] {
  const found: string[] = [];
  for (let at = 0; at < input.length; at += size) {
    stream.push(input.subarray(at, at + size), output => found.push(output.toString('latin1')));
  }
  return found;
}

test('WATCH-2 a list is read while it arrives, with any boundaries of chunks', () => {
  const whole = outputs(new ListBody(), LIST, LIST.length);
  assert.equal(whole.length, 7);
  for (const size of [1, 2, 3, 7, 100, 1000, 4000]) {
    const list = new ListBody();
    assert.deepEqual(outputs(list, LIST, size), whole);
    assert.ok(list.complete);
    assert.deepEqual(list.type, { apiVersion: 'v1', kind: 'ServiceList' });
    assert.match(list.resourceVersion, /^\d+$/);
    assert.equal(list.continueToken, '');
  }
});

test('WATCH-2 a list that ends early is not complete, and other bytes are broken', () => {
  fc.assert(
    fc.property(fc.nat(LIST.length - 1), end => {
      const list = new ListBody();
      list.push(LIST.subarray(0, end), () => {});
      // After the list there are two fields that are always empty.
      assert.equal(list.complete && end < LIST.length - 4, false);
    }),
  );
  const json = new ListBody();
  json.push(Buffer.from('{"kind":"ServiceList"}'), () => assert.fail());
  assert.ok(json.broken);
  const huge = new ListBody();
  huge.push(Buffer.from([...Buffer.from('k8s\0'), 0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]), () => assert.fail());
  assert.ok(huge.broken, 'a field of 4 GiB is refused at once');
});

test('WATCH-2 an item that is longer than its list is broken', () => {
  const list = new ListBody();
  const item = [0x12, 10, 1, 2, 3];
  list.push(Buffer.from([...Buffer.from('k8s\0'), 0x12, item.length, ...item, 1, 2, 3, 4, 5, 6, 7, 8, 9]), () =>
    assert.fail(),
  );
  assert.ok(list.broken);
});

test('WATCH-2 an empty list is complete', () => {
  const list = new ListBody();
  list.push(enveloped('v1', 'ServiceList', bytes(1, [...text(2, '7'), ...text(3, 'more')])), () => assert.fail());
  assert.deepEqual([list.complete, list.resourceVersion, list.continueToken], [true, '7', 'more']);
});

test('WATCH-2 a watch is read frame by frame, with any boundaries of chunks', () => {
  const whole = outputs(new WatchFrames(), WATCH, WATCH.length);
  assert.equal(whole.length, 8);
  for (const size of [1, 3, 5, 1000, 4000]) {
    const frames = new WatchFrames();
    assert.deepEqual(outputs(frames, WATCH, size), whole);
    assert.ok(frames.complete);
  }
  const types = whole.map(frame => decodeWatchEvent(Buffer.from(frame, 'latin1'))?.type);
  assert.deepEqual(types, [...Array(7).fill('ADDED'), 'BOOKMARK']);
});

test('WATCH-5 the bookmark at the end of the initial objects differs from others', () => {
  const last = outputs(new WatchFrames(), WATCH, WATCH.length).at(-1) ?? '';
  const event = decodeWatchEvent(Buffer.from(last, 'latin1'));
  const unknown = event && decodeEnvelope(event.object);
  assert.deepEqual(unknown?.type, { apiVersion: 'v1', kind: 'Service' });
  const bookmark = unknown && decodeProtobufBookmark(unknown.raw);
  assert.equal(bookmark?.initialEventsEnd, true);
  assert.match(bookmark?.resourceVersion ?? '', /^\d+$/);
  const other = bytes(1, [...text(6, '8'), ...bytes(12, [...text(1, 'note'), ...text(2, 'true')])]);
  assert.deepEqual(decodeProtobufBookmark(Buffer.from(other)), { resourceVersion: '8', initialEventsEnd: false });
  assert.equal(decodeProtobufBookmark(Buffer.from(bytes(1, []))), undefined);
});

test('WATCH-2 a frame that is too long is broken at once', () => {
  const frames = new WatchFrames();
  frames.push(Buffer.from([0xff, 0xff, 0xff, 0xff]), () => assert.fail());
  assert.ok(frames.broken);
  assert.ok(!frames.complete || frames.broken);
});

test('WATCH-2 no bytes of a list or a watch cause an exception or a hang', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.integer({ min: 1, max: 20 }), (garbage, size) => {
      const input = Buffer.concat([Buffer.from('k8s\0'), garbage]);
      outputs(new ListBody(), input, size);
      for (const frame of outputs(new WatchFrames(), watchFrame('ADDED', garbage), size)) {
        const event = decodeWatchEvent(Buffer.from(frame, 'latin1'));
        assert.deepEqual([...(event?.object ?? [])], [...garbage]);
      }
      decodeWatchEvent(garbage);
      decodeEnvelope(input);
      decodeProtobufBookmark(garbage);
    }),
    { numRuns: 1000 },
  );
});
