import { goQuote } from '../lib/go-quote.ts';
import type { HttpAnswer } from '../observe/http/index.ts';

/** A parameter of a query. */
export interface Parameter {
  readonly about: string;
  /** The only values that the route accepts. By default it accepts any text. */
  readonly words?: readonly string[];
  readonly isRequired?: boolean;
}

/** One path of the inspection API. */
export interface Route {
  /** `/v1/status` */
  readonly path: string;
  readonly about: string;
  readonly parameters?: Readonly<Record<string, Parameter>>;
  /** The answer needs the kernel. Such requests run one at a time, and at a limited rate. */
  readonly readsKernel?: boolean;
  /** Throws a `QueryError` if the answer does not exist for this query. */
  answer(query: Query): HttpAnswer | Promise<HttpAnswer>;
}

/** What a request asks for. */
export interface Query {
  /** The value of a parameter. Undefined if the request does not have it. */
  get(name: string): string | undefined;
  /** Aborted when the caller is gone, or has the whole answer. */
  readonly disconnected: AbortSignal;
}

/** The request is wrong. The message says what is wrong, and what to do. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

/** Checks the query of a request. Throws a `QueryError` that names what is wrong. */
export function checkQuery(route: Route, query: URLSearchParams, disconnected: AbortSignal): Query {
  const { parameters = {} } = route;
  const known = Object.keys(parameters);
  for (const name of new Set(query.keys())) {
    if (!Object.hasOwn(parameters, name)) throw new QueryError(unknownParameter(route.path, name, known));
    const values = query.getAll(name);
    if (values.length > 1) throw new QueryError(`the parameter ${goQuote(name)} is there ${values.length} times`);
    checkValue(name, values[0] ?? '', parameters[name]?.words);
  }
  for (const [name, { isRequired, about }] of Object.entries(parameters)) {
    if (isRequired && !query.get(name)) throw new QueryError(`the parameter ${goQuote(name)} is missing: ${about}`);
  }
  return { get: name => query.get(name) ?? undefined, disconnected };
}

/** No name or time is longer. */
const MAX_VALUE = 1024;

function checkValue(name: string, value: string, words: readonly string[] | undefined): void {
  if (value.length > MAX_VALUE) throw new QueryError(`the parameter ${goQuote(name)} is too long`);
  if (!words || words.includes(value)) return;
  throw new QueryError(
    `the parameter ${goQuote(name)} has the unknown value ${goQuote(value)}: use ${words.join(' or ')}`,
  );
}

function unknownParameter(path: string, name: string, known: readonly string[]): string {
  const advice = known.length === 0 ? `${path} takes no parameters` : `${path} knows ${known.join(', ')}`;
  return `the parameter ${goQuote(name)} is not known: ${advice}`;
}
