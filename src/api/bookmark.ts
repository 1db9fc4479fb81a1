import { isFields } from './field-reader.ts';

/** How far a watch has come, told by the server without a change. */
export interface Bookmark {
  readonly resourceVersion: string;
  /** Everything that existed when the watch began has been sent. */
  readonly initialEventsEnd: boolean;
}

export const BOOKMARK_INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** Of parsed JSON; undefined if it is no object with a version. */
export function decodeBookmark(value: unknown): Bookmark | undefined {
  const metadata = isFields(value) && isFields(value.metadata) ? value.metadata : undefined;
  const resourceVersion = metadata?.resourceVersion;
  if (typeof resourceVersion !== 'string' || resourceVersion === '') return undefined;
  const annotations = isFields(metadata?.annotations) ? metadata.annotations : {};
  return { resourceVersion, initialEventsEnd: annotations[BOOKMARK_INITIAL_EVENTS_END] === 'true' };
}
