import { decodeMetadata, KEPT_ANNOTATIONS, KEPT_LABELS, NO_ENTRIES, type StringMap } from '../decode-metadata.ts';
import { lengthKey, type ProtobufReader, varintKey } from './reader.ts';

const NAME = lengthKey(1);
const NAMESPACE = lengthKey(3);
const UID = lengthKey(5);
const RESOURCE_VERSION = lengthKey(6);
const DELETION_TIMESTAMP = lengthKey(9);
const LABELS = lengthKey(11);
const ANNOTATIONS = lengthKey(12);

/** The fields of an ObjectMeta that any kind uses. Protobuf sends empty texts where JSON leaves them out. */
export interface DecodedMetadata {
  name: string;
  namespace: string;
  labels: StringMap;
  annotations: StringMap;
  resourceVersion: string | undefined;
  uid: string | undefined;
  deletionTimestamp: string | undefined;
}

export function emptyMetadata(): DecodedMetadata {
  return {
    name: '',
    namespace: '',
    labels: NO_ENTRIES,
    annotations: NO_ENTRIES,
    resourceVersion: undefined,
    uid: undefined,
    deletionTimestamp: undefined,
  };
}

export function decodeObjectMeta(reader: ProtobufReader): DecodedMetadata {
  const metadata = emptyMetadata();
  while (reader.next()) {
    switch (reader.key) {
      case NAME:
        metadata.name = reader.string();
        break;
      case NAMESPACE:
        metadata.namespace = reader.name();
        break;
      case UID:
        metadata.uid = reader.string() || undefined;
        break;
      case RESOURCE_VERSION:
        metadata.resourceVersion = reader.string() || undefined;
        break;
      case DELETION_TIMESTAMP:
        metadata.deletionTimestamp = reader.message(decodeTime);
        break;
      case LABELS:
        metadata.labels = withEntry(metadata.labels, reader.message(decodeLabel));
        break;
      case ANNOTATIONS:
        metadata.annotations = withEntry(metadata.annotations, reader.message(decodeAnnotation));
        break;
      default:
        reader.skip();
    }
  }
  return metadata;
}

/** Refuses an object without a name. As in JSON, this is the first of its problems. */
export function requireName(reader: ProtobufReader, { name }: DecodedMetadata): void {
  if (name !== '') return;
  const others = reader.problems.splice(0);
  reader.addProblems(fields => fields.map({}, 'metadata', decodeMetadata));
  reader.problems.push(...others);
}

type Entry = readonly [key: string, value: string];

const decodeLabel = (reader: ProtobufReader): Entry | undefined => decodeEntry(reader, KEPT_LABELS);
const decodeAnnotation = (reader: ProtobufReader): Entry | undefined => decodeEntry(reader, KEPT_ANNOTATIONS);

const ENTRY_KEY = lengthKey(1);
const ENTRY_VALUE = lengthKey(2);

/** Returns undefined if the entry is not kept. Its value, which is often long, is then skipped. */
function decodeEntry(reader: ProtobufReader, kept: readonly string[]): Entry | undefined {
  let key: string | undefined;
  let value: string | undefined;
  while (reader.next()) {
    if (reader.key === ENTRY_KEY) key = reader.oneOf(kept);
    else if (reader.key === ENTRY_VALUE && key !== undefined) value = reader.string();
    else reader.skip();
  }
  return key === undefined ? undefined : [key, value ?? ''];
}

function withEntry(entries: StringMap, entry: Entry | undefined): StringMap {
  return entry ? { ...entries, [entry[0]]: entry[1] } : entries;
}

const SECONDS = varintKey(1);
/** The last second of the year 9999. RFC 3339 has no text for later ones. */
const LATEST = 253_402_300_799n;
const EARLIEST = -62_135_596_800n;

/** The text that JSON has: RFC 3339 in UTC, whole seconds. */
function decodeTime(reader: ProtobufReader): string | undefined {
  let seconds = 0n;
  while (reader.next()) {
    if (reader.key === SECONDS) seconds = reader.int64();
    else reader.skip();
  }
  if (seconds < EARLIEST || seconds > LATEST) return undefined;
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, -'.000Z'.length)}Z`;
}
