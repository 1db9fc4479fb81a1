import { BOOKMARK_INITIAL_EVENTS_END, type Bookmark } from '../bookmark.ts';
import { lengthKey, ProtobufReader } from './reader.ts';

const METADATA = lengthKey(1);
const RESOURCE_VERSION = lengthKey(6);
const ANNOTATIONS = lengthKey(12);
const ENTRY_KEY = lengthKey(1);
const ENTRY_VALUE = lengthKey(2);

/** Decodes the bytes inside the envelope. Returns undefined if they are not an object with a version. */
export function decodeProtobufBookmark(raw: Uint8Array): Bookmark | undefined {
  const reader = new ProtobufReader(raw);
  let bookmark: Bookmark | undefined;
  while (reader.next()) {
    if (reader.key === METADATA) bookmark = reader.message(decodeMetadata);
    else reader.skip();
  }
  return reader.broken || !bookmark?.resourceVersion ? undefined : bookmark;
}

function decodeMetadata(reader: ProtobufReader): Bookmark {
  let resourceVersion = '';
  let initialEventsEnd = false;
  while (reader.next()) {
    if (reader.key === RESOURCE_VERSION) resourceVersion = reader.string();
    else if (reader.key === ANNOTATIONS) initialEventsEnd ||= reader.message(isInitialEventsEnd);
    else reader.skip();
  }
  return { resourceVersion, initialEventsEnd };
}

function isInitialEventsEnd(reader: ProtobufReader): boolean {
  let isKey = false;
  let value = '';
  while (reader.next()) {
    if (reader.key === ENTRY_KEY) isKey = reader.oneOf([BOOKMARK_INITIAL_EVENTS_END]) !== undefined;
    else if (reader.key === ENTRY_VALUE) value = reader.string();
    else reader.skip();
  }
  return isKey && value === 'true';
}
