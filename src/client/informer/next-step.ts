import { ApiError } from '../index.ts';
import { UnreadableError } from './unreadable-error.ts';

/**
 * What is asked of the server.
 *
 * streaming list  a watch that begins with all objects
 * list            all objects, in pages, for servers that cannot stream them
 * full list       all objects at once and as new as can be, where pages or versions went out of date
 * watch           what changed since a version
 */
export type Phase = 'streaming list' | 'list' | 'full list' | 'watch';

/** How an attempt ended. A list that was read needs no next step: a watch follows. */
export interface Ending {
  readonly phase: Phase;
  /** Undefined if the server ended a watch as it should. */
  readonly error?: unknown;
  /** The watch lasted, or brought something. */
  readonly lively: boolean;
  /** The watch lasted as long as it should and brought nothing: not even the bookmarks that servers send every minute. */
  readonly mute: boolean;
  /** There is a version that a list must not be older than. */
  readonly hasVersion: boolean;
}

/** What happened too often makes waits longer; a version that is too old has nothing to do with servers that fail. */
export type Cause = 'failure' | 'old version';

export interface NextStep {
  readonly phase: Phase;
  /** Wait first, longer each time that it is for the same cause. */
  readonly waitFor?: Cause;
  /** The server does not know the version: ask without. */
  readonly forgetVersion?: boolean;
  /** What is wrong, if anybody should know. */
  readonly problem?: string;
}

export function nextStep({ phase, error, lively, mute, hasVersion }: Ending): NextStep {
  if (error === undefined) return afterEnd(phase, lively, mute);
  if (!(error instanceof ApiError)) return { phase: 'streaming list', waitFor: 'failure', problem: textOf(error) };
  if (error.code === 'status') return afterRefusal(phase, error, hasVersion);
  // Servers are restarted and connections cut: a watch goes on where it was.
  if (phase === 'watch' && error.code === 'closed' && lively) return { phase };
  return { phase: phase === 'watch' ? 'watch' : 'streaming list', waitFor: 'failure', problem: textOf(error) };
}

function afterEnd(phase: Phase, lively: boolean, mute: boolean): NextStep {
  // The server did not say where its objects end: it does not know how.
  if (phase === 'streaming list') return { phase: 'list' };
  // A server that was set back to an older state keeps silent about a version that it has not reached yet.
  if (mute) return { phase: 'streaming list' };
  if (lively) return { phase: 'watch' };
  return { phase: 'watch', waitFor: 'failure', problem: 'the server ends the watch as soon as it has begun' };
}

function afterRefusal(phase: Phase, error: ApiError, hasVersion: boolean): NextStep {
  if (isOutOfDate(error)) return afterOutOfDate(phase, error, hasVersion);
  const { status = 0 } = error;
  const problem = textOf(error);
  switch (phase) {
    case 'streaming list':
      return SAME_FOR_LISTS.has(status) ? { phase, waitFor: 'failure', problem } : { phase: 'list' };
    case 'list':
    case 'full list':
      return { phase: 'streaming list', waitFor: 'failure', problem };
    case 'watch':
      return { phase: isPassing(status) ? 'watch' : 'streaming list', waitFor: 'failure', problem };
  }
}

/** Who may not watch, or not now, or finds nothing to watch, cannot list either. */
const SAME_FOR_LISTS: ReadonlySet<number> = new Set([401, 403, 404, 429]);

/** Not because of the version that was asked for. */
function isPassing(status: number): boolean {
  return status === 401 || status === 403 || status === 429 || status >= 500;
}

/** The server knows no longer, or not yet, what came after the version. */
function isOutOfDate({ status, reason, message }: ApiError): boolean {
  return status === 410 || reason === 'Expired' || reason === 'Gone' || message.includes('Too large resource version');
}

function afterOutOfDate(phase: Phase, error: ApiError, hasVersion: boolean): NextStep {
  switch (phase) {
    case 'watch':
      return { phase: 'streaming list', waitFor: 'old version' };
    case 'streaming list':
      if (hasVersion) return { phase, forgetVersion: true };
      return { phase, waitFor: 'failure', problem: textOf(error) };
    case 'list':
      return { phase: 'full list', forgetVersion: true };
    case 'full list':
      return { phase: 'streaming list', waitFor: 'failure', problem: textOf(error) };
  }
}

function textOf(error: unknown): string {
  // Who stands before the server has other reasons, and says no such word.
  if (error instanceof ApiError && error.status === 403 && error.reason !== undefined) {
    return `${error.message}: bind who we are to the ClusterRole system:node-proxier`;
  }
  return error instanceof ApiError || error instanceof UnreadableError ? error.message : `unexpected: ${String(error)}`;
}
