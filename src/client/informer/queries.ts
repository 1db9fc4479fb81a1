import type { Phase } from './next-step.ts';
import type { Query } from './resource.ts';

/** What a watch goes on from, and no list may be older than. */
export interface Version {
  /** Empty if nothing was read yet. */
  readonly text: string;
  /** The server does not know it. */
  readonly isForgotten: boolean;
}

const PAGE = '500';

/** From the server's memory where that will do: with a version, that is only so without a limit. */
export function listQuery(phase: Phase, version: Version): Query {
  if (phase === 'full list') return { resourceVersion: '' };
  if (version.isForgotten) return { resourceVersion: '', limit: PAGE };
  return version.text === '' ? { resourceVersion: '0', limit: PAGE } : { resourceVersion: version.text };
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
    resourceVersion: version.isForgotten ? '' : version.text,
    sendInitialEvents: 'true',
    resourceVersionMatch: 'NotOlderThan',
  };
}
