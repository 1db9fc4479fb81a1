import { isRecord } from '../lib/is-record.ts';

/** The server's message that a watch has come to a version, without a change of an object. */
export interface Bookmark {
  readonly resourceVersion: string;
  /** The server has sent all objects that existed when the watch began. */
  readonly initialEventsEnd: boolean;
}

export const BOOKMARK_INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** Decodes parsed JSON. Returns undefined if it is not an object with a version. */
export function decodeBookmark(value: unknown): Bookmark | undefined {
  const metadata = isRecord(value) && isRecord(value.metadata) ? value.metadata : undefined;
  const resourceVersion = metadata?.resourceVersion;
  if (typeof resourceVersion !== 'string' || resourceVersion === '') return undefined;
  const annotations = isRecord(metadata?.annotations) ? metadata.annotations : {};
  return { resourceVersion, initialEventsEnd: annotations[BOOKMARK_INITIAL_EVENTS_END] === 'true' };
}
