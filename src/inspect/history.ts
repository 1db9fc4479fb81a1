import type { ObjectLookup } from '../api/index.ts';
import type { Entry, History } from '../history/index.ts';
import { type NamePattern, parseNamePattern } from '../lib/name-pattern.ts';
import { linesAnswer } from './answers.ts';
import { type Query, QueryError, type Route } from './route.ts';
import { missingServiceText } from './services-missing.ts';

export const HISTORY_SCHEMA = 'pointsman.history/v1';

export interface HistoryParts {
  readonly history: History;
  readonly nodeName: string;
  readonly objects: ObjectLookup;
}

/** An entry of the history, as JSON has it. Fields that have no value are missing. */
export interface HistoryRow {
  readonly id: number;
  readonly kind: string;
  /** When the proxy received the event. */
  readonly time: string;
  readonly object: string | undefined;
  readonly service: string | undefined;
  readonly family: string | undefined;
  readonly change: string;
  readonly cause: string | undefined;
  /** When the cause of an endpoint change happened, as the EndpointSlice says. */
  readonly triggered: string | undefined;
  readonly state: string | undefined;
  /** From the event to the plan, and from the event to the kernel. */
  readonly plannedMs: number | undefined;
  readonly writtenMs: number | undefined;
  readonly syncMs: number | undefined;
  readonly fullSync: boolean | undefined;
  /** How often the same happened in a row, and when it happened last. */
  readonly count: number | undefined;
  readonly lastTime: string | undefined;
}

/** A follower was too slow. */
export interface MissedRow {
  readonly missed: number;
}

export function historyRoute(parts: HistoryParts): Route {
  return {
    path: '/v1/history',
    about: 'the last changes from the event to the kernel, the oldest first, one JSON object a line',
    parameters: {
      service: { about: 'NAMESPACE/NAME, NAME in the namespace default, or a glob with * and ?' },
      since: { about: 'a time in the form of RFC 3339: only later entries' },
      after: { about: 'the id of an entry: only later entries' },
      limit: { about: 'only the newest entries, this many' },
      follow: { about: 'further entries as they come, without an end', words: ['true', 'false'] },
    },
    async answer(query) {
      const { history, nodeName } = parts;
      const request = await readQuery(query, parts);
      const head = { node: nodeName, startedAt: timeText(history.startedAt) };
      const isFollowing = query.get('follow') === 'true';
      if (!isFollowing) return linesAnswer(HISTORY_SCHEMA, history.entries(request).map(historyRow), head);
      return linesAnswer(HISTORY_SCHEMA, followRows(history, request, query.disconnected), head);
    },
  };
}

type Request = NonNullable<Parameters<History['entries']>[0]>;

async function readQuery(query: Query, parts: HistoryParts): Promise<Request> {
  const name = query.get('service');
  const pattern = name === undefined || name === '' ? undefined : parseNamePattern(name);
  if (pattern?.isExact) await checkExists(pattern, parts);
  const since = query.get('since');
  const time = since === undefined ? undefined : Date.parse(since);
  if (Number.isNaN(time)) throw new QueryError('since is not a time in the form of RFC 3339');
  return { service: pattern?.matches, since: time, after: number(query, 'after'), limit: number(query, 'limit') };
}

/** A Service that is gone may still have a history. */
async function checkExists({ text, matches }: NamePattern, { history, objects }: HistoryParts): Promise<void> {
  if (objects.service(text) || history.entries({ service: matches, limit: 1 }).length > 0) return;
  throw new QueryError(await missingServiceText(text, objects.services()));
}

function number(query: Query, name: string): number | undefined {
  const value = query.get(name);
  if (value === undefined) return undefined;
  if (!/^\d{1,15}$/.test(value)) throw new QueryError(`${name} is not a number`);
  return Number(value);
}

/** First the entries that are complete, then each further one when it is complete. */
async function* followRows(
  history: History,
  request: Request,
  signal: AbortSignal,
): AsyncGenerator<readonly (HistoryRow | MissedRow)[], void> {
  const follower = history.follow(signal);
  const complete = history.entries(request).filter(({ state }) => state !== 'waiting');
  yield complete.map(historyRow);
  for await (const followed of follower) {
    if ('missed' in followed) yield [followed];
    else if (!request.service || (followed.service !== '' && request.service(followed.service)))
      yield [historyRow(followed)];
  }
}

export function historyRow(entry: Entry): HistoryRow {
  const { id, kind, at, object, service, family, change, cause, triggeredAt, state, count, lastAt } = entry;
  return {
    id,
    kind,
    time: timeText(at),
    object: object || undefined,
    service: service || undefined,
    family,
    change,
    cause: cause || undefined,
    triggered: triggeredAt === undefined ? undefined : timeText(triggeredAt),
    state: state === 'none' ? undefined : state,
    plannedMs: milliseconds(entry.plannedMs),
    writtenMs: milliseconds(entry.writtenMs),
    syncMs: milliseconds(entry.syncMs),
    fullSync: entry.isFullSync,
    count: count === 1 ? undefined : count,
    lastTime: count === 1 ? undefined : timeText(lastAt),
  };
}

function timeText(time: number): string {
  return new Date(time).toISOString();
}

/** Rounded to a tenth. */
function milliseconds(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value * 10) / 10;
}
