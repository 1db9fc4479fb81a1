import { errorText } from '../lib/error-text.ts';
import { goQuote } from '../lib/go-quote.ts';
import type { HttpAnswer, HttpHandler, HttpRequest } from '../observe/http/index.ts';
import { errorAnswer, objectAnswer } from './answers.ts';
import { BusyError, KernelGate } from './kernel-gate.ts';
import { checkQuery, QueryError, type Route } from './route.ts';

export interface InspectionHandlerOptions {
  readonly routes: readonly Route[];
  /** The network namespace of the proxy. All answers have it, so that a client notices a proxy of another one. */
  readonly networkNamespace?: string | undefined;
  readonly gate?: KernelGate | undefined;
}

export const NAMESPACE_HEADER = 'Pointsman-Network-Namespace';

/** The handler of the inspection API. It only reads. */
export function inspectionHandler(options: InspectionHandlerOptions): HttpHandler {
  const { networkNamespace, gate = new KernelGate() } = options;
  const routes = new Map([...options.routes, listRoute(options.routes)].map(route => [route.path, route]));
  const added = {
    'Cache-Control': 'no-store',
    ...(networkNamespace === undefined ? {} : { [NAMESPACE_HEADER]: networkNamespace }),
  };
  return async request => {
    const answer = await answerOf(routes, request, gate).catch(failureAnswer);
    return { ...answer, headers: { ...answer.headers, ...added } };
  };
}

async function answerOf(
  routes: ReadonlyMap<string, Route>,
  { method, path, query, disconnected }: HttpRequest,
  gate: KernelGate,
): Promise<HttpAnswer> {
  if (method !== 'GET')
    return errorAnswer(405, `the method ${goQuote(method)} is not allowed: use GET`, { Allow: 'GET' });
  const route = routes.get(path);
  if (!route) return errorAnswer(404, `there is no path ${goQuote(path)}: /v1 lists all paths`);
  const checked = checkQuery(route, query, disconnected);
  return route.readsKernel ? gate.enter(() => route.answer(checked), disconnected) : route.answer(checked);
}

function failureAnswer(error: unknown): HttpAnswer {
  if (error instanceof QueryError) return errorAnswer(error.status, error.message);
  if (error instanceof BusyError) {
    return errorAnswer(429, error.message, { 'Retry-After': String(error.retryAfterSeconds) });
  }
  return errorAnswer(500, errorText(error));
}

function listRoute(routes: readonly Route[]): Route {
  return {
    path: '/v1',
    about: 'this list',
    answer: () =>
      objectAnswer('pointsman.routes/v1', {
        routes: routes.map(({ path, about, parameters = {} }) => ({
          path,
          about,
          parameters: Object.entries(parameters).map(([name, parameter]) => ({ name, ...parameter })),
        })),
      }),
  };
}
