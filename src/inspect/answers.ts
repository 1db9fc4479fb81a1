import { type HttpAnswer, type HttpStream, jsonAnswer } from '../observe/http/index.ts';

/** The largest part of a stream, in characters. */
const PART_LENGTH = 32 * 1024;
/** A part is made without a break, so it must not take longer. */
const PART_MS = 2;
/** Less than the time after which the client gives up. */
const SIGN_OF_LIFE_MS = 5000;

const JSON_LINES = { 'Content-Type': 'application/x-ndjson', 'X-Content-Type-Options': 'nosniff' };

export const ERROR_SCHEMA = 'pointsman.error/v1';

/** One JSON object, with its schema first: `pointsman.status/v1`. */
export function objectAnswer(schema: string, body: object): HttpAnswer {
  return jsonAnswer(200, `${JSON.stringify({ schema, ...body })}\n`);
}

export function errorAnswer(status: number, error: string, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
  return jsonAnswer(status, `${JSON.stringify({ schema: ERROR_SCHEMA, error })}\n`, headers);
}

/** Rows that exist, or batches of rows that come one after the other. Each batch is sent at once. */
export type Rows = Iterable<object> | AsyncIterable<readonly object[]>;

/**
 * One JSON object a line. The first line has the schema. The event loop runs between the parts, so that a long list holds
 * nothing up.
 */
export function linesAnswer(
  schema: string,
  rows: Rows,
  head: object = {},
  signOfLifeMs: number = SIGN_OF_LIFE_MS,
): HttpAnswer {
  return { status: 200, headers: JSON_LINES, body: lines({ schema, ...head }, rows, signOfLifeMs) };
}

async function* lines(head: object, rows: Rows, signOfLifeMs: number): HttpStream {
  if (Symbol.asyncIterator in rows) {
    yield line(head);
    for await (const batch of withSignsOfLife(rows, signOfLifeMs)) yield* batch === 'waiting' ? ['\n'] : parts(batch);
  } else {
    yield* parts(withHead(head, rows));
  }
}

/** An empty line in pauses shows the reader that the proxy still runs, and the server that the reader is still there. */
async function* withSignsOfLife<T>(rows: AsyncIterable<T>, everyMs: number): AsyncGenerator<T | 'waiting', void> {
  const iterator = rows[Symbol.asyncIterator]();
  try {
    for (let next = iterator.next(); ; ) {
      const result = await resultOrPause(next, everyMs);
      if (result === 'waiting') {
        yield result;
        continue;
      }
      if (result.done) return;
      yield result.value;
      next = iterator.next();
    }
  } finally {
    await iterator.return?.();
  }
}

async function resultOrPause<T>(work: Promise<T>, pauseMs: number): Promise<T | 'waiting'> {
  let timer: NodeJS.Timeout | undefined;
  const pause = new Promise<'waiting'>(resolve => {
    timer = setTimeout(() => resolve('waiting'), pauseMs);
  });
  try {
    return await Promise.race([work, pause]);
  } finally {
    clearTimeout(timer);
  }
}

function* withHead(head: object, rows: Iterable<object>): Iterable<object> {
  yield head;
  yield* rows;
}

/** The server writes each part in a turn of its own. */
function* parts(rows: Iterable<object>): Iterable<string> {
  let part = '';
  let start = performance.now();
  for (const row of rows) {
    part += line(row);
    if (part.length < PART_LENGTH && performance.now() - start < PART_MS) continue;
    yield part;
    part = '';
    start = performance.now();
  }
  if (part !== '') yield part;
}

function line(row: object): string {
  return `${JSON.stringify(row)}\n`;
}
