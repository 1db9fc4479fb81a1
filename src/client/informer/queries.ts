import type { Phase } from './next-step.ts';
import type { Query } from './resource.ts';

/** The version from which a watch goes on. A list must not be older. */
export interface Version {
  /** Empty before the first list. */
  readonly text: string;
  /** The server does not know this version. */
  readonly isUnknown: boolean;
}

const PAGE_SIZE = '500';

/**
 * The server answers from its cache where it can. With version 0 it may use the cache for pages too. With another
 * version it uses the cache only if there is no limit.
 */
export function listQuery(phase: Phase, version: Version): Query {
  if (phase === 'full list') return { resourceVersion: '' };
  if (version.isUnknown) return { resourceVersion: '', limit: PAGE_SIZE };
  return version.text === '' ? { resourceVersion: '0', limit: PAGE_SIZE } : { resourceVersion: version.text };
}

export function watchQuery(seconds: number, version: Version): Query {
  return {
    watch: 'true',
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(seconds),
    resourceVersion: version.text,
  };
}

/** A watch that begins with all objects. */
export function streamingListQuery(seconds: number, version: Version): Query {
  return {
    ...watchQuery(seconds, version),
    resourceVersion: version.isUnknown ? '' : version.text,
    sendInitialEvents: 'true',
    resourceVersionMatch: 'NotOlderThan',
  };
}

/** The smallest list that says at which version the server is now. With version 0 the server would ignore the limit. */
export const VERSION_QUERY: Query = { resourceVersion: '', limit: '1' };
