import { errorCode } from '../../lib/error-code.ts';
import { ApiError } from '../index.ts';
import { UnreadableError } from './encoding.ts';
import type { WaitCause } from './retry-waits.ts';

/**
 * The kinds of requests that a reflector sends.
 *
 * streaming list  a watch that begins with all objects
 * list            all objects, in pages, from a server that cannot stream them
 * full list       all objects in one answer and as new as possible, after a page or a version expired
 * watch           the changes since a version
 * version check   the smallest list, after a watch that was silent
 */
export type Phase = 'streaming list' | 'list' | 'full list' | 'watch' | 'version check';

/** How an attempt ended. A complete list and a version check need no next step. */
export interface AttemptEnd {
  readonly phase: Phase;
  /** Undefined if the server ended a watch normally. */
  readonly error?: unknown;
  /** The watch lasted a while, or brought something. */
  readonly wasActive: boolean;
  /** There is a version, and a list must not be older than it. */
  readonly hasVersion: boolean;
}

export interface NextStep {
  readonly phase: Phase;
  /** Wait first. */
  readonly waitCause?: WaitCause;
  /** The server does not know the version: ask without it. */
  readonly isVersionUnknown?: boolean;
  /** What the operator should know, if anything is wrong. */
  readonly problem?: string;
}

export function nextStep({ phase, error, wasActive, hasVersion }: AttemptEnd): NextStep {
  if (error === undefined) return afterNormalEnd(phase, wasActive);
  if (!(error instanceof ApiError)) return { phase: 'streaming list', waitCause: 'failure', problem: problemOf(error) };
  if (error.code === 'status') return afterErrorStatus(phase, error, hasVersion);
  // Servers restart and connections break. The watch goes on from its version.
  if (phase === 'watch' && error.code === 'closed' && wasActive) return { phase };
  const hasList = phase === 'watch' || phase === 'version check';
  const waitCause = waitCauseWithoutAnswer(error);
  return { phase: hasList ? 'watch' : 'streaming list', waitCause, problem: problemOf(error) };
}

const NOTHING_LISTENS: ReadonlySet<string> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH']);

function waitCauseWithoutAnswer({ code, cause }: ApiError): WaitCause {
  if (code === 'credentials' || code === 'configuration') return 'failure';
  return code === 'unreachable' && NOTHING_LISTENS.has(errorCode(cause) ?? '') ? 'refused' : 'broken';
}

function afterNormalEnd(phase: Phase, wasActive: boolean): NextStep {
  // The server did not mark the end of its objects: it does not support streaming lists.
  if (phase === 'streaming list') return { phase: 'list' };
  if (wasActive) return { phase: 'watch' };
  return { phase: 'watch', waitCause: 'failure', problem: 'the API server ends the watch as soon as it starts' };
}

function afterErrorStatus(phase: Phase, error: ApiError, hasVersion: boolean): NextStep {
  if (isVersionExpired(error)) return afterExpiredVersion(phase, error, hasVersion);
  const { status = 0 } = error;
  const problem = problemOf(error);
  switch (phase) {
    case 'streaming list':
      return REFUSES_LISTS_TOO.has(status) ? { phase, waitCause: 'failure', problem } : { phase: 'list' };
    case 'list':
    case 'full list':
      return { phase: 'streaming list', waitCause: 'failure', problem };
    case 'watch':
      return { phase: isIndependentOfVersion(status) ? 'watch' : 'streaming list', waitCause: 'failure', problem };
    case 'version check':
      // A list would make a busy server busier. A server that was away is checked again after the watch continued.
      if (status === 429) return { phase: 'watch', waitCause: 'failure', problem };
      // The list finds out whether the server fails, or only refuses plain lists.
      return { phase: 'streaming list' };
  }
}

/** A server that answers a streaming list with one of these would answer a plain list in the same way. */
const REFUSES_LISTS_TOO: ReadonlySet<number> = new Set([401, 403, 404, 429]);

/** The server refused for a reason that has nothing to do with the version of the watch. */
function isIndependentOfVersion(status: number): boolean {
  return status === 401 || status === 403 || status === 429 || status >= 500;
}

/** The server no longer has the changes since the version, or it has not reached the version yet. */
function isVersionExpired({ status, reason, message }: ApiError): boolean {
  return status === 410 || reason === 'Expired' || reason === 'Gone' || message.includes('Too large resource version');
}

function afterExpiredVersion(phase: Phase, error: ApiError, hasVersion: boolean): NextStep {
  switch (phase) {
    case 'watch':
    case 'version check':
      return { phase: 'streaming list', waitCause: 'old version' };
    case 'streaming list':
      if (hasVersion) return { phase, isVersionUnknown: true };
      return { phase, waitCause: 'failure', problem: problemOf(error) };
    case 'list':
      return { phase: 'full list', isVersionUnknown: true };
    case 'full list':
      return { phase: 'streaming list', waitCause: 'failure', problem: problemOf(error) };
  }
}

function problemOf(error: unknown): string {
  // A proxy in front of the server may answer 403 as well, but without a reason: then a ClusterRole does not help.
  if (error instanceof ApiError && error.status === 403 && error.reason !== undefined) {
    return `${error.message}: bind this user to the ClusterRole system:node-proxier`;
  }
  if (error instanceof ApiError || error instanceof UnreadableError) return error.message;
  return `unexpected error: ${String(error)}`;
}
