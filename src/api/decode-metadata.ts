import type { FieldReader, Fields } from './field-reader.ts';
import {
  ANNOTATION_TRIGGER_TIME,
  LABEL_HEADLESS_SERVICE,
  LABEL_SERVICE_NAME,
  LABEL_SERVICE_PROXY_NAME,
  LABEL_ZONE,
  type ObjectMeta,
  SERVICE_ANNOTATIONS,
} from './objects.ts';

export type StringMap = Readonly<Record<string, string>>;

/**
 * The labels and annotations that a proxy uses. The others are dropped: they can be larger than the rest of an object.
 */
export const KEPT_LABELS = [LABEL_SERVICE_NAME, LABEL_SERVICE_PROXY_NAME, LABEL_HEADLESS_SERVICE, LABEL_ZONE] as const;
export const KEPT_ANNOTATIONS = [ANNOTATION_TRIGGER_TIME, ...SERVICE_ANNOTATIONS] as const;

export const NO_ENTRIES: StringMap = Object.freeze({});

export function decodeMetadata(reader: FieldReader, metadata: Fields): ObjectMeta {
  return {
    name: decodeName(reader, metadata),
    namespace: reader.name(metadata.namespace, 'namespace') ?? '',
    labels: reader.map(metadata.labels, 'labels', decodeLabels),
    annotations: reader.map(metadata.annotations, 'annotations', decodeAnnotations),
    resourceVersion: reader.string(metadata.resourceVersion, 'resourceVersion'),
  };
}

/** For objects that Events refer to. */
export function decodeMetadataWithUid(reader: FieldReader, metadata: Fields): ObjectMeta {
  return { ...decodeMetadata(reader, metadata), uid: reader.string(metadata.uid, 'uid') };
}

function decodeName(reader: FieldReader, metadata: Fields): string {
  const problems = reader.problems.length;
  const name = reader.string(metadata.name, 'name') ?? '';
  if (name === '' && reader.problems.length === problems)
    reader.addProblem('name', 'is missing: give the object a name');
  return name;
}

function decodeLabels(reader: FieldReader, labels: Fields): StringMap {
  return keep(reader, labels, KEPT_LABELS);
}

function decodeAnnotations(reader: FieldReader, annotations: Fields): StringMap {
  return keep(reader, annotations, KEPT_ANNOTATIONS);
}

function keep(reader: FieldReader, entries: Fields, keys: readonly string[]): StringMap {
  let kept: Record<string, string> | undefined;
  for (const key of keys) {
    const value = reader.string(entries[key], key);
    if (value === undefined) continue;
    kept ??= {};
    kept[key] = value;
  }
  return kept ?? NO_ENTRIES;
}
